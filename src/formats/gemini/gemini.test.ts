import { expect, test } from 'vitest';

import { importDocument, importLines } from '../../../test/support/import-check.ts';
import { geminiChatImporter, geminiDocumentImporter, geminiStreamImporter } from './gemini.ts';

const timestamp = '2026-11-23T04:00:00.000Z';
const header = { sessionId: 's1', projectHash: 'p', startTime: timestamp, kind: 'main' };
const user = (id: string, ...texts: readonly string[]) => ({
  id,
  timestamp,
  type: 'user',
  content: texts.map((text) => ({ text })),
});
const answer = (id: string, ...calls: readonly string[]) => ({
  id,
  timestamp,
  type: 'gemini',
  content: '',
  toolCalls: calls.map((call) => ({
    id: call,
    name: 'read_file',
    args: {},
    status: 'success',
    result: [
      { functionResponse: { id: call, response: { output: `read ${call}\n\n<hook_context>advice</hook_context>` } } },
    ],
  })),
});
const history = (...messages: readonly object[]) => ({ $set: { messages, lastUpdated: timestamp } });

test('an entry that is written again is one answer, also when it grows after others were written', () => {
  const { runs } = importLines(geminiChatImporter, [
    header,
    user('u', 'Go.'),
    answer('g'),
    answer('g', 'a'),
    user('r', ''),
    answer('g', 'a', 'b'),
  ]);
  expect(runs[0]?.calls.map((call) => call.tool_call_id)).toEqual(['a', 'b']);
  expect(runs[0]?.payloads.filter(({ kind }) => kind === 'turn_started')).toHaveLength(1);
});

test('a call begins at the time in its id, and its entry has that of its end', () => {
  const startMs = Date.parse(timestamp) - 60_000;
  const { runs } = importLines(geminiChatImporter, [header, user('u', 'Go.'), answer('g', `replace_${startMs}_0`)]);
  const started = runs[0]?.payloads.findIndex(({ kind }) => kind === 'tool_started') ?? -1;
  expect(runs[0]?.atMs[started]).toBe(startMs);
});

test('what hooks and the host add to messages and results is neither user text nor result', () => {
  const { runs } = importLines(geminiChatImporter, [
    header,
    history(user('c', '<session_context>\nThis is the Gemini CLI.\n</session_context>')),
    user('u', '<hook_context>advice</hook_context>\n\nGo.', '<hook_context>more</hook_context>'),
    answer('g', 'a'),
  ]);
  expect(runs[0]?.run.task).toBe('Go.');
  expect(runs[0]?.ends.map(({ result }) => result)).toEqual(['read a']);
  const roles = runs[0]?.payloads.flatMap((payload) =>
    payload.kind === 'message_appended' ? [payload.message.role] : [],
  );
  expect(roles).toEqual(['system', 'system', 'user', 'assistant', 'system']);
});

test('a history that is set again with unknown messages is a compaction; one that is only shortened is not', () => {
  const compactions = (...last: readonly object[]) => {
    const { runs } = importLines(geminiChatImporter, [header, user('u', 'Go.'), answer('g', 'a'), history(...last)]);
    return runs[0]?.payloads.filter(({ kind }) => kind === 'compaction').length;
  };
  expect(compactions(user('s', 'Summary of what happened.'), user('u', 'Go.'))).toBe(1);
  expect(compactions(user('u', 'Go.'))).toBe(0);
});

test('the history of a session that was killed lacks its last answer, whose call did not end, and is no compaction', () => {
  const compactions = (...last: readonly object[]) => {
    const lines = [header, user('u', 'Go.'), answer('g', 'a'), answer('h', ''), history(...last), answer('i', 'Done.')];
    const { runs } = importLines(geminiChatImporter, lines);
    return runs[0]?.payloads.filter(({ kind }) => kind === 'compaction').length;
  };
  expect(compactions(user('u', 'Go.'), answer('g', 'a'), user('g_response', 'x'))).toBe(0);
  expect(compactions(user('s', 'Summary.'), answer('h', ''))).toBe(1);
});

test('the history that a resumed session writes again, with results as entries of their own, is no compaction', () => {
  const { runs } = importLines(geminiChatImporter, [
    header,
    history(user('c', 'context')),
    user('u', 'Go.'),
    answer('g', 'a'),
    header,
    history(user('c', 'context')),
    history(user('c', 'context'), user('u', 'Go.'), answer('g', 'a'), user('g result', '')),
    user('v', 'Go on.'),
    answer('h', 'b'),
  ]);
  expect(runs[0]?.payloads.filter(({ kind }) => kind === 'compaction')).toEqual([]);
  expect(runs[0]?.calls.map((call) => call.tool_call_id)).toEqual(['a', 'b']);
});

test('the history with which a resumed session begins its next file is no compaction, and is not read again', () => {
  const { runs } = importLines(geminiChatImporter, [
    header,
    history(user('c', 'context')),
    history(user('c', 'context'), user('u', 'Go.'), answer('g', 'a')),
    user('v', 'Go on.'),
    answer('h', 'b'),
  ]);
  expect(runs[0]?.payloads.filter(({ kind }) => kind === 'compaction')).toEqual([]);
  expect(runs[0]?.calls.map((call) => call.tool_call_id)).toEqual(['b']);
});

test("a subagent's chat is a child of the session that its folder is named for", () => {
  const reading = geminiChatImporter.open({ path: '/home/.gemini/tmp/p/chats/parent1/s1.jsonl', name: 's1.jsonl' });
  const items = [
    ...reading.line({ ...header, kind: 'subagent' }, 1),
    ...reading.line(user('u', 'Look.'), 2),
    ...reading.end(),
  ];
  expect(items[0]).toMatchObject({ type: 'run', run: { id: 's1', parentId: 'parent1', task: 'Look.' } });
});

test('the one document of older versions is read as the lines are', () => {
  const { runs } = importDocument(geminiDocumentImporter, {
    ...header,
    messages: [user('u', 'Go.'), answer('g', 'a')],
  });
  expect(runs[0]?.run).toMatchObject({ id: 's1', task: 'Go.' });
  expect(runs[0]?.calls).toHaveLength(1);
});

test('a stream is found behind lines of the program around it, and each process that wrote to the file is a run', () => {
  const stream = (session_id: string) => [
    { type: 'message', role: 'user', content: 'The ticket', ts: timestamp },
    { type: 'init', timestamp, session_id, model: 'gemini-3-pro-preview' },
    { type: 'message', timestamp, role: 'user', content: `Do ${session_id}.` },
    { type: 'tool_use', timestamp, tool_name: 'read_file', tool_id: `call-${session_id}`, parameters: {} },
    { type: 'tool_result', timestamp, tool_id: `call-${session_id}`, status: 'success', output: '' },
  ];
  const result = { type: 'result', timestamp, status: 'success', stats: {} };
  const lines = [...stream('s1'), result, ...stream('s2')];
  expect(geminiStreamImporter.recognise(lines, { path: 't.jsonl', name: 't.jsonl' })).toBeGreaterThan(0.5);
  const { runs, diagnostics } = importLines(geminiStreamImporter, lines);
  expect(runs.map(({ calls, run }) => [run.id, run.task, calls.length])).toEqual([
    ['s1', 'Do s1.', 1],
    ['s2', 'Do s2.', 1],
  ]);
  const endings = runs.map(({ payloads }) => payloads.some(({ kind }) => kind === 'run_ended'));
  expect(endings).toEqual([true, false]);
  expect(diagnostics.map(({ message }) => message)).toEqual(['left out: 2 lines beside the stream']);
});

test('an error of the editor that Gemini CLI opens ends no turn', () => {
  const error = { id: 'e', timestamp, type: 'error', content: '[useTextBuffer] external editor error' };
  const endOf = (last: object) =>
    importLines(geminiChatImporter, [header, user('u', 'Go.'), answer('g', 'a'), last]).runs[0]?.payloads.at(-1);
  expect(endOf(error)?.kind).not.toBe('run_ended');
  expect(endOf({ ...error, content: '[API Error: 500]' })).toMatchObject({ kind: 'run_ended', outcome: 'error' });
});

test('a chat begins with its header', () => {
  const startTime = '2026-11-23T03:59:00.000Z';
  const { runs } = importLines(geminiChatImporter, [{ ...header, startTime }, user('u', 'Go.'), answer('g')]);
  expect(runs[0]?.run.startedAtMs).toBe(Date.parse(startTime));
});
