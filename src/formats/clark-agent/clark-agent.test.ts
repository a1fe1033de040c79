import { expect, test } from 'vitest';

import { importLines } from '../../../test/support/import-check.ts';
import { clarkAgentImporter } from './clark-agent.ts';

const T0 = 1_767_225_600_000;

/** Records as the recorder of clark-agent 0.2.0 serialises them. */
function recordsOf(
  payloads: readonly object[],
  runId: string | undefined = 'r1',
  more: object = {},
): readonly object[] {
  const id = runId === '' ? {} : { run_id: runId };
  return payloads.map((payload, seq) => ({
    schema_version: 1,
    seq,
    ...id,
    depth: 0,
    recorded_at_unix_ms: T0 + seq,
    payload,
    ...more,
  }));
}

const numbered = (records: readonly object[]) => records.map((record, seq) => Object.assign({}, record, { seq }));

const answer = {
  role: 'assistant',
  content: [
    { type: 'thinking', text: 'Look first.' },
    { type: 'reasoning_details', details: [{ type: 'reasoning.encrypted', data: 'x' }] },
    { type: 'text', text: 'Listing.' },
    { type: 'tool_call', id: 'c1', name: 'shell', arguments: { command: 'ls' } },
  ],
  stop_reason: 'tool_use',
  timestamp: T0,
  usage: { input_tokens: 12, output_tokens: 5, cache_creation_input_tokens: 3, cache_read_input_tokens: 2 },
};
const result = {
  role: 'tool_result',
  tool_call_id: 'c1',
  tool_name: 'shell',
  content: [{ type: 'text', text: 'a.ts' }],
  is_error: false,
  narration: 'Ran `ls`.',
  timestamp: T0,
};
const run: readonly object[] = [
  {
    kind: 'run_started',
    identity: { run_id: 'r1', depth: 0, conversation_id: 'chat-1', deadline_unix_ms: T0 + 60_000 },
  },
  { kind: 'turn_started' },
  { kind: 'message_appended', message: { role: 'user', content: 'List the files.', timestamp: T0 } },
  {
    kind: 'provider_request_prepared',
    iteration: 0,
    model_id: null,
    system_prompt_chars: 10,
    message_count: 1,
    tool_count: 1,
    tools: ['shell'],
  },
  { kind: 'message_appended', message: answer },
  { kind: 'tool_started', tool_call_id: 'c1', tool_name: 'shell', args: { command: 'ls' } },
  {
    kind: 'tool_ended',
    tool_call_id: 'c1',
    tool_name: 'shell',
    result: { content: [{ type: 'text', text: 'a.ts' }], details: { exit: 0 } },
    is_error: false,
  },
  { kind: 'message_appended', message: result },
  { kind: 'turn_ended', assistant: answer, tool_results: [result] },
  { kind: 'message_appended', message: { role: 'custom', kind: 'ui', payload: { text: 'done' }, timestamp: T0 } },
  { kind: 'tool_gate_conflict_resolved', iteration: 1, plugins: ['a'], allow: ['shell'], reason: 'empty' },
  { kind: 'output_tokens_escalation', attempt: 1, prev_cap: 100, new_cap: 200 },
  { kind: 'run_ended', outcome: 'ended', new_messages: [answer, result] },
];

const readAs = (lines: readonly unknown[]) => importLines(clarkAgentImporter, lines);

test('every record of a run loads, in our form', () => {
  const { runs, diagnostics } = readAs(recordsOf(run));
  expect(diagnostics).toEqual([]);
  expect(runs[0]?.run).toMatchObject({ id: 'r1', format: 'clark-agent', conversationId: 'chat-1', startedAtMs: T0 });
  const [deadline, , , , said, , ended, , turn, custom] = runs[0]?.payloads ?? [];
  expect(runs[0]?.payloads.length).toBe(run.length);
  expect(deadline).toEqual({ kind: 'deadline_set', deadline_at_unix_ms: T0 + 60_000 });
  expect(said).toMatchObject({
    message: {
      content: [
        { type: 'reasoning', text: 'Look first.' },
        { type: 'other' },
        { type: 'text' },
        { type: 'tool_call', id: 'c1', args: { command: 'ls' } },
      ],
      usage: { input_tokens: 12, output_tokens: 5, cache_write_tokens: 3, cache_read_tokens: 2 },
    },
  });
  expect(ended).toMatchObject({ tool_call_id: 'c1', result: 'a.ts', is_error: false });
  expect(turn).toMatchObject({ tool_results: [{ content: [{ type: 'text', text: 'a.ts' }] }] });
  expect(custom).toMatchObject({ message: { role: 'system', content: [{ type: 'other' }] } });
});

test('it is told from our own records by what only it writes', () => {
  const source = { path: 'a', name: 'a' };
  const ours = recordsOf([{ kind: 'run_started', identity: { run_id: 'r1', depth: 0 } }, { kind: 'turn_started' }]);
  expect(clarkAgentImporter.recognise(recordsOf(run), source)).toBe(1);
  expect(clarkAgentImporter.recognise(ours, source)).toBe(0);
});

test('child runs that share their parent’s numbers lose nothing, and a missing record is named', () => {
  const parent = recordsOf(run);
  const child = recordsOf(run.slice(1), 'r2', { parent_run_id: 'r1', depth: 1 });
  const shared = numbered([...parent.slice(0, 12), ...child, ...parent.slice(12)]);
  const both = readAs(shared);
  expect(both.diagnostics).toEqual([]);
  expect(both.runs.map(({ run: { id, parentId } }) => [id, parentId])).toEqual([
    ['r1', undefined],
    ['r2', 'r1'],
  ]);
  const interleaved = parent.flatMap((record, at) => [record, ...child.slice(at, at + 1)]);
  expect(readAs(interleaved).diagnostics).toEqual([]);
  expect(readAs(parent.filter((_, at) => at !== 4)).diagnostics).toMatchObject([
    { severity: 'error', message: 'records 4 to 4 are missing', line: 5 },
  ]);
});

test('records without an id belong to the run that is identified next, or to one named for the file', () => {
  const unnamed = recordsOf(run.slice(1), '');
  const { runs } = readAs([...unnamed, ...unnamed]);
  expect(runs.map(({ run: { id }, calls }) => [id, calls.length])).toEqual([
    ['file-unidentified', 1],
    ['file-unidentified-2', 1],
  ]);
  const [first, ...others] = recordsOf(run);
  const early = { ...first, seq: 0, run_id: undefined, payload: { kind: 'turn_started' } };
  expect(readAs(numbered([early, ...others])).runs.map(({ run: { id }, payloads }) => [id, payloads[0]?.kind])).toEqual(
    [['r1', 'turn_started']],
  );
});

test('a call whose result never came counts as a call without result', () => {
  const cut = readAs(recordsOf(run.slice(0, 6)));
  expect(cut.runs[0]?.ends).toMatchObject([{ tool_call_id: 'c1', result_missing: true }]);
});

test('fields of a call that clark-agent has beside those of the call are kept', () => {
  const { runs } = importLines(
    clarkAgentImporter,
    recordsOf([
      { kind: 'run_started', identity: { run_id: 'r1', depth: 0, deadline_unix_ms: T0 } },
      { kind: 'turn_started' },
      { kind: 'tool_started', tool_call_id: 'c1', tool_name: 'shell', args: { command: 'ls' } },
      { kind: 'tool_ended', tool_call_id: 'c1', tool_name: 'shell', result: 'a.ts', is_error: false, duration_ms: 40 },
    ]),
  );
  expect(runs[0]?.payloads.find(({ kind }) => kind === 'tool_ended')).toMatchObject({ duration_ms: 40 });
});
