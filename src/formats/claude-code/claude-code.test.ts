import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { importLines } from '../../../test/support/import-check.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { sharedPath } from '../../../test/support/shared-data.ts';
import { claudeCodeImporter } from './claude-code-import.ts';
import { openaiChatLinesImporter } from '../openai-chat/openai-chat.ts';

const source = { path: 's1.jsonl', name: 's1.jsonl' };
let entries = 0;

function entry(type: string, content: unknown, more: object = {}): Record<string, unknown> {
  entries += 1;
  return {
    type,
    uuid: `u${entries}`,
    sessionId: 's1',
    isSidechain: false,
    timestamp: '2026-01-01T00:00:00Z',
    message: { role: type, content },
    ...more,
  };
}
const user = (content: unknown, more: object = {}) => entry('user', content, more);
const answer = (id: string, content: unknown, more: object = {}): Record<string, unknown> => ({
  ...entry('assistant', content, more),
  message: { id, role: 'assistant', model: 'm', content, usage: { input_tokens: 3, cache_read_input_tokens: 2 } },
});
const use = (id: string) => ({ type: 'tool_use', id, name: 'Bash', input: { command: id } });
const result = (id: string, more: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: `r-${id}`,
  ...more,
});
const kinds = (payloads: readonly { readonly kind: string }[] | undefined) => payloads?.map(({ kind }) => kind);

test('the lines of one message are one turn, also with results between them', () => {
  const { runs, diagnostics } = importLines(claudeCodeImporter, [
    user('Fix the bug.'),
    answer('m1', [{ type: 'thinking', thinking: 'hm', signature: 'x' }]),
    answer('m1', [use('a')]),
    user([result('a')]),
    answer('m1', [use('b')]),
    user([result('b', { is_error: true })]),
    answer('m2', [{ type: 'text', text: 'Done.' }]),
  ]);
  expect(diagnostics).toEqual([]);
  const [run] = runs;
  expect(run?.run).toEqual({
    key: 's1',
    id: 's1',
    format: 'claude-code',
    conversationId: 's1',
    task: 'Fix the bug.',
    startedAtMs: Date.UTC(2026, 0, 1),
  });
  expect(kinds(run?.payloads)).toEqual([
    'message_appended',
    'turn_started',
    'message_appended',
    'tool_started',
    'tool_started',
    'tool_ended',
    'tool_ended',
    'turn_started',
    'message_appended',
    'run_ended',
  ]);
  expect(run?.payloads[2]).toMatchObject({
    message: {
      content: [{ type: 'reasoning', text: 'hm' }, { id: 'a' }, { id: 'b' }],
      model_id: 'm',
      usage: { input_tokens: 3, cache_read_tokens: 2 },
    },
  });
  expect(run?.ends.map((end) => [end.tool_call_id, end.result, end.is_error])).toEqual([
    ['a', 'r-a', false],
    ['b', 'r-b', true],
  ]);
  expect(run?.ends.some((end) => end.error_inferred)).toBe(false);
});

test('calls that ran at the provider are calls, with the results that stand in the same answer', () => {
  const { runs, diagnostics } = importLines(claudeCodeImporter, [
    user('Look it up.'),
    answer('m1', [
      { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'x' } },
      { type: 'web_search_tool_result', tool_use_id: 's1', content: [{ type: 'web_search_result', title: 'X' }] },
      { type: 'server_tool_use', id: 's2', name: 'web_fetch', input: { url: 'y' } },
      {
        type: 'web_fetch_tool_result',
        tool_use_id: 's2',
        content: { type: 'web_fetch_tool_result_error', error_code: 'unavailable' },
      },
      { type: 'mcp_tool_use', id: 's3', name: 'find', server_name: 'docs', input: {} },
      { type: 'mcp_tool_result', tool_use_id: 's3', is_error: true, content: [{ type: 'text', text: 'no' }] },
      { type: 'text', text: 'Here.' },
    ]),
  ]);
  expect(diagnostics).toEqual([]);
  const calls = runs[0]?.payloads.filter((payload) => payload.kind === 'tool_started');
  const results = runs[0]?.payloads.filter((payload) => payload.kind === 'tool_ended');
  expect(calls?.map(({ tool_name }) => tool_name)).toEqual(['web_search', 'web_fetch', 'find']);
  expect(results?.map(({ is_error }) => is_error)).toEqual([false, true, true]);
});

test('a failure that the tool LSP or a subagent reports without the flag is a failure', () => {
  const died = { type: 'text', text: 'API Error: 401 OAuth token has expired · Please run /login' };
  const failure = "Error performing incomingCalls: LSP request 'textDocument/prepareCallHierarchy' failed";
  const { runs } = importLines(claudeCodeImporter, [
    user('Look.'),
    answer('m1', [use('a'), use('b'), use('c'), use('d')]),
    user([
      result('a', { content: failure }),
      result('b'),
      result('c', { content: [died, { type: 'text', text: 'agentId: a97d8e1' }] }),
      result('d', { content: [died] }),
    ]),
  ]);
  expect(runs[0]?.ends.map(({ is_error }) => is_error)).toEqual([true, false, true, false]);
});

test('a session resumed under a new id has only what came after the sessions it continues', () => {
  const folder = testFolder();
  const madeLater = (session: string, minute: number) => ({
    type: 'queue-operation',
    sessionId: session,
    timestamp: `2026-01-01T00:0${minute}:00Z`,
  });
  const under = (session: string, lines: readonly object[]) => lines.map((line) => ({ ...line, sessionId: session }));
  const first = [user('Go.'), answer('m1', [use('a')]), user([result('a')]), answer('m2', [use('b')])];
  const second = [user([result('b')]), user('And now?'), answer('m3', [{ type: 'text', text: 'Done.' }])];
  const third = [user('More.'), answer('m4', [{ type: 'text', text: 'So.' }])];
  const files = {
    one: under('one', first),
    two: [madeLater('two', 1), ...under('two', [...first, ...second])],
    three: [madeLater('three', 2), ...under('three', [...first, ...second, ...third])],
  };
  for (const [name, lines] of Object.entries(files))
    writeFileSync(join(folder, `${name}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const texts = Object.entries(files).map(([name, lines]) => {
    const { runs } = importLines(claudeCodeImporter, lines, join(folder, `${name}.jsonl`));
    expect(runs).toHaveLength(1);
    return [runs[0]?.run.task, runs[0]?.payloads.filter(({ kind }) => kind === 'turn_started').length];
  });
  expect(texts).toEqual([
    ['Go.', 2],
    ['And now?', 1],
    ['More.', 1],
  ]);
});

test('an agent that is forked from its session has only what came after the fork', () => {
  const folder = testFolder();
  mkdirSync(join(folder, 's1', 'subagents'), { recursive: true });
  const session = [user('Go.'), answer('m1', [use('a')]), user([result('a')]), answer('m2', [use('b')])];
  const own = [user('Summarise.'), answer('m3', [{ type: 'text', text: 'It began.' }])];
  const agentId = 'acompact-f2bf321a9c7aaa15';
  const lines = [...session, ...own].map((line) => Object.assign({}, line, { isSidechain: true, agentId }));
  writeFileSync(join(folder, 's1.jsonl'), session.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const path = join(folder, 's1', 'subagents', `agent-${agentId}.jsonl`);
  const { runs } = importLines(claudeCodeImporter, lines, path);
  expect(runs.map(({ calls, run }) => [run.task, calls.length])).toEqual([['Summarise.', 0]]);
});

test('the name of a session is its own last one, else that of the host, and splits no answer', () => {
  const given = { type: 'ai-title', sessionId: 's1', aiTitle: 'Fix a bug' };
  const custom = (name: string) => ({ type: 'custom-title', sessionId: 's1', customTitle: name });
  const named = (...lines: readonly object[]) =>
    importLines(claudeCodeImporter, lines).runs[0]?.payloads.filter(
      (payload) => payload.kind === 'session_event' || payload.kind === 'turn_started',
    );
  const turn = { kind: 'turn_started' };
  const name = (text: string) => ({ kind: 'session_event', event_type: 'session_named', data: { name: text } });
  const lines = [user('Go.'), answer('m1', [use('a')]), given, answer('m1', [use('b')])];
  expect(named(...lines)).toEqual([turn, name('Fix a bug')]);
  expect(named(custom('One'), ...lines, custom('Two'))).toEqual([turn, name('Two')]);
});

test('a message that goes on after a user text stays one turn', () => {
  const [run] = importLines(claudeCodeImporter, [
    user('Go.'),
    answer('m1', [use('a')]),
    user('By the way.', { isMeta: true }),
    answer('m1', [use('b')]),
    user([result('b'), result('a')]),
  ]).runs;
  expect(kinds(run?.payloads)?.filter((kind) => kind === 'turn_started')).toHaveLength(1);
  expect(run?.ends.map((end) => [end.tool_call_id, end.result])).toEqual([
    ['b', 'r-b'],
    ['a', 'r-a'],
  ]);
});

test('texts of the host come before the task but are not it', () => {
  const [run] = importLines(claudeCodeImporter, [
    user('Caveat: these were local commands.', { isMeta: true }),
    user('<command-name>/clear</command-name>'),
    user([{ type: 'text', text: 'Real task' }]),
  ]).runs;
  expect(run?.run.task).toBe('Real task');
  expect(run?.payloads).toHaveLength(3);
});

test('older side conversations are child runs, told apart by their first entry', () => {
  const first = user('Side task 1', { isSidechain: true, parentUuid: null });
  const second = user('Side task 2', { isSidechain: true, parentUuid: null });
  const firstAnswer = answer('m2', [use('x')], { isSidechain: true, parentUuid: first.uuid });
  const secondAnswer = answer('m3', [use('x')], { isSidechain: true, parentUuid: second.uuid });
  const { runs } = importLines(claudeCodeImporter, [
    user('Main task'),
    answer('m1', [use('t1'), use('t2')]),
    first,
    second,
    firstAnswer,
    secondAnswer,
    user([result('x', { content: 'for 2' })], { isSidechain: true, parentUuid: secondAnswer.uuid }),
    user([result('x', { content: 'for 1' })], { isSidechain: true, parentUuid: firstAnswer.uuid }),
    user([result('t1'), result('t2')]),
  ]);
  expect(runs.map(({ run, ends }) => [run.task, run.parentId, ends.map((end) => end.result)])).toEqual(
    expect.arrayContaining([
      ['Main task', undefined, ['r-t1', 'r-t2']],
      ['Side task 1', 's1', ['for 1']],
      ['Side task 2', 's1', ['for 2']],
    ]),
  );
  expect(runs).toHaveLength(3);
});

test('messages of a subagent in progress entries are its run, which ends with the result of its call', () => {
  const progress = (message: Record<string, unknown>): Record<string, unknown> => ({
    ...entry('progress', undefined),
    message: undefined,
    parentToolUseID: 'task',
    data: { type: 'agent_progress', agentId: 'a7', message },
  });
  const call = progress(answer('s1m', [use('x')]));
  const lines = [
    user('Explore.'),
    answer('m1', [use('task')]),
    progress(user('Look at the tests.')),
    call,
    // Later entries report the same message again.
    call,
    progress(user([result('x')])),
    user([
      result('task', {
        content: [
          { type: 'text', text: 'Two tests.' },
          { type: 'text', text: 'agentId: a7' },
        ],
      }),
    ]),
    answer('m2', [{ type: 'text', text: 'Done.' }]),
  ];
  const { diagnostics, runs } = importLines(claudeCodeImporter, lines);
  const run = runs.find(({ run: one }) => one.id === 's1/agent-a7');
  expect(run?.run).toMatchObject({ parentId: 's1', task: 'Look at the tests.' });
  expect(kinds(run?.payloads)?.filter((kind) => kind.startsWith('tool_'))).toEqual(['tool_started', 'tool_ended']);
  expect(JSON.stringify(run?.payloads.at(-2))).toContain('Two tests.');
  expect(run?.payloads.at(-1)).toMatchObject({ kind: 'run_ended', reason: 'answered' });
  expect(
    kinds(runs.find(({ run: one }) => one.id === 's1')?.payloads)?.filter((kind) => kind === 'tool_started'),
  ).toHaveLength(1);
  expect(diagnostics.map(({ message }) => message)).toEqual(['left out: 1 duplicate entries']);
});

test('a subagent file is a child run of the session it names', () => {
  const side = { isSidechain: true, agentId: 'abc' };
  const { runs } = importLines(
    claudeCodeImporter,
    [user('Look around.', side), answer('m1', [use('a')], side)],
    'agent-abc.jsonl',
  );
  expect(runs.map(({ run }) => [run.id, run.parentId, run.conversationId])).toEqual([['s1/agent-abc', 's1', 's1']]);
  expect(runs[0]?.ends).toMatchObject([{ tool_call_id: 'a', result_missing: true, is_error: false }]);
});

test('messages that stand in a file again under other ids are taken once', () => {
  const at = (second: number, message: Record<string, unknown>): Record<string, unknown> => ({
    ...message,
    timestamp: `2026-01-01T00:00:0${second}Z`,
  });
  const text = (words: string) => ({ type: 'text', text: words });
  const messages = () => [
    at(1, answer('m1', [use('a')])),
    at(2, user([result('a')])),
    at(3, answer('m2', [text('Done.')])),
  ];
  const { runs, diagnostics } = importLines(claudeCodeImporter, [
    at(0, user([text('Fix the bug.'), text('Now.')])),
    ...messages(),
    at(0, user([text('Fix the bug.')])),
    at(0, user([text('Now.')])),
    ...messages(),
    // Some programs number their calls from the start again, so that an id comes twice.
    at(4, answer('m3', [use('a')])),
    at(5, user([result('a')])),
    at(6, user('Fix the bug.')),
  ]);
  expect(runs[0]?.calls).toHaveLength(2);
  expect(runs[0]?.ends).toHaveLength(2);
  expect(kinds(runs[0]?.payloads)?.filter((kind) => kind === 'turn_started')).toHaveLength(3);
  expect(diagnostics).toMatchObject([{ severity: 'note', message: 'left out: 5 duplicate entries' }]);
});

test('a session begins with what its hooks did before the first message', () => {
  const timestamp = '2026-01-01T09:12:35.967Z';
  const hook = { type: 'progress', sessionId: 's1', uuid: 'h', timestamp, data: { type: 'hook_progress' } };
  const first = { ...user('Go.'), timestamp: '2026-01-01T11:33:13Z' };
  const command = { type: 'system', subtype: 'local_command', sessionId: 's1', uuid: 'c', timestamp };
  for (const before of [hook, command])
    expect(importLines(claudeCodeImporter, [before, first]).runs[0]?.run.startedAtMs).toBe(Date.parse(timestamp));
});

test('messages that an extension writes again at the time at which it was opened are taken once', () => {
  const at = (time: string, message: Record<string, unknown>) => ({ ...message, timestamp: `2026-01-01T${time}Z` });
  const call = { ...use('tooluse_meNgX3SPS4Kz-_gGuONf7A') };
  const text = { type: 'text', text: 'I look.' };
  const [first, second] = [1, 2].map((hour) => [
    at(`0${hour}:00:00`, answer('msg_20251101090824', [text])),
    at(`0${hour}:00:00`, answer('msg_20251101090824', [call])),
    at(`0${hour}:00:00`, user([result('tooluse_meNgX3SPS4Kz-_gGuONf7A')])),
  ]);
  const { runs } = importLines(claudeCodeImporter, [user('Fix the bug.'), ...(first ?? []), ...(second ?? [])]);
  expect(runs[0]?.calls).toHaveLength(1);
  expect(runs[0]?.ends).toHaveLength(1);
  expect(kinds(runs[0]?.payloads)?.filter((kind) => kind === 'turn_started')).toHaveLength(1);
});

test('duplicate entries after a resume are taken once, and other sessions are other runs', () => {
  const lines = [user('Task'), answer('m1', [use('a')]), user([result('a')])];
  const { runs, diagnostics } = importLines(claudeCodeImporter, [
    ...lines,
    ...lines,
    user('Other task', { sessionId: 's2' }),
    answer('m1', [use('a')], { sessionId: 's2' }),
  ]);
  expect(runs.map(({ run, calls }) => [run.id, calls.length])).toEqual([
    ['s1', 1],
    ['s2', 1],
  ]);
  expect(diagnostics).toMatchObject([{ severity: 'note', message: 'left out: 3 duplicate entries' }]);
});

test('a compaction is recorded once, with its boundary or with its summary alone', () => {
  const boundary = entry('system', undefined, { subtype: 'compact_boundary', compactMetadata: { trigger: 'auto' } });
  const [run] = importLines(claudeCodeImporter, [
    user('Task'),
    answer('m1', 'Working.'),
    boundary,
    user('This session is continued …', { isCompactSummary: true }),
    answer('m2', 'Working on.'),
    user('This session is continued again …', { isCompactSummary: true }),
  ]).runs;
  expect(run?.payloads.filter(({ kind }) => kind === 'compaction')).toEqual([
    { kind: 'compaction', trigger: 'auto' },
    { kind: 'compaction', trigger: 'summary' },
  ]);
});

test('a failed request is a message with an error and no turn', () => {
  const [run] = importLines(claudeCodeImporter, [
    user('Task'),
    answer('x', [{ type: 'text', text: 'API Error: 529' }], { isApiErrorMessage: true }),
  ]).runs;
  expect(kinds(run?.payloads)).toEqual(['message_appended', 'message_appended', 'run_ended']);
  expect(run?.payloads[1]).toMatchObject({ message: { role: 'assistant', error_message: 'API Error: 529' } });
});

test('what a person typed while the agent worked is a message of the user, and what the host wrote then is its own', () => {
  const queued = (commandMode: string, prompt: unknown) =>
    entry('attachment', undefined, { attachment: { type: 'queued_command', commandMode, prompt } });
  const [run] = importLines(claudeCodeImporter, [
    user('Task'),
    answer('m1', [use('a')]),
    user([result('a')]),
    queued('prompt', 'Also fix the docs.'),
    queued('prompt', [{ type: 'text', text: 'And the tests.' }]),
    queued('task-notification', '<task-notification>x</task-notification>'),
    answer('m2', [{ type: 'text', text: 'Done.' }]),
  ]).runs;
  const messages = run?.payloads.flatMap((payload) => (payload.kind === 'message_appended' ? [payload.message] : []));
  expect(messages?.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'user', 'system', 'assistant']);
  expect(messages?.[2]).toMatchObject({ content: 'Also fix the docs.' });
  expect(run?.run).toMatchObject({ task: 'Task' });
});

test('the words that Claude Code puts after a killed process are no answer of a model', () => {
  const filler = answer('f', [{ type: 'text', text: 'No response requested.' }]);
  const [run] = importLines(claudeCodeImporter, [
    user('Task'),
    answer('m1', [use('a')]),
    user([result('a')]),
    { ...filler, message: { ...(filler['message'] as object), model: '<synthetic>' } },
    user('Go on'),
    answer('m2', [{ type: 'text', text: 'Done.' }]),
  ]).runs;
  expect(kinds(run?.payloads)?.filter((kind) => kind === 'turn_started')).toHaveLength(2);
});

test('what is passed over or unusable is counted once for the file', () => {
  const { diagnostics } = importLines(claudeCodeImporter, [
    { type: 'summary', summary: 'x', leafUuid: 'y' },
    entry('progress', undefined),
    entry('system', undefined, { subtype: 'away_summary' }),
    entry('progress', undefined),
    42,
    entry('user', undefined, { message: 'odd' }),
  ]);
  expect(diagnostics).toEqual([
    {
      severity: 'error',
      message: 'not usable: 1 lines that are not objects, 1 user entries without a message content (lines 5, 6 …)',
      line: 5,
    },
    { severity: 'note', message: 'left out: 1 summary, 2 progress, 1 system/away_summary' },
  ]);
});

test('stream-json gives the same runs, and its last line ends them', () => {
  const stream = (type: string, content: unknown, parent: string | null = null) => ({
    type,
    session_id: 's9',
    parent_tool_use_id: parent,
    message: { id: type === 'assistant' ? 'm' : undefined, role: type, content },
  });
  const lines = [
    { type: 'system', subtype: 'init', session_id: 's9' },
    stream('assistant', [use('t')]),
    stream('user', 'Side task', 't'),
    stream('assistant', [use('x')], 't'),
    stream('user', [result('t')]),
    { type: 'result', subtype: 'error_max_turns', is_error: true, session_id: 's9' },
  ];
  expect(claudeCodeImporter.recognise(lines, source)).toBeGreaterThan(0.9);
  const { runs } = importLines(claudeCodeImporter, lines);
  expect(runs.map(({ run, calls }) => [run.id, run.parentId, calls.length])).toEqual(
    expect.arrayContaining([
      ['s9', undefined, 1],
      ['s9/tool-t', 's9', 1],
    ]),
  );
  expect(runs.find(({ run }) => run.id === 's9')?.payloads.at(-1)).toMatchObject({ outcome: 'error_max_turns' });
});

test('more sessions than it keeps open end the one that was silent longest', () => {
  const lines = Array.from({ length: 300 }, (_, index) => user('Task', { sessionId: `n${index}` }));
  const { runs } = importLines(claudeCodeImporter, [...lines, user('Again', { sessionId: 'n0' })]);
  expect(runs).toHaveLength(301);
  expect(runs.at(-1)?.run.id).toBe('n0#2');
});

test('it is told apart from lines of chat messages', () => {
  const lines = [user('Task'), answer('m1', 'x')];
  expect(claudeCodeImporter.recognise(lines, source)).toBeGreaterThan(0.9);
  expect(openaiChatLinesImporter.recognise(lines, source)).toBe(0);
  expect(claudeCodeImporter.recognise([{ role: 'user', content: 'x' }], source)).toBe(0);
  expect(claudeCodeImporter.recognise([{ type: 'system', session_id: 's', cwd: '/w' }], source)).toBe(0);
  expect(claudeCodeImporter.recognise([{ type: 'message', id: 1 }], source)).toBe(0);
});

test('no JSON value makes it throw', () => {
  const block = fc.oneof(
    fc.jsonValue(),
    fc.record({
      type: fc.constantFrom('text', 'tool_use', 'tool_result', 'thinking', 'image'),
      id: fc.jsonValue(),
      tool_use_id: fc.constantFrom('a', 'b', 3),
      content: fc.jsonValue(),
      source: fc.jsonValue(),
    }),
  );
  const line = fc.record(
    {
      type: fc.constantFrom('user', 'assistant', 'system', 'result', 'progress', 1),
      subtype: fc.constantFrom('compact_boundary', 'success', 2),
      uuid: fc.jsonValue(),
      sessionId: fc.constantFrom('a', 'b', 1),
      isSidechain: fc.oneof(fc.boolean(), fc.jsonValue()),
      agentId: fc.jsonValue(),
      parentUuid: fc.jsonValue(),
      timestamp: fc.jsonValue(),
      isCompactSummary: fc.boolean(),
      isApiErrorMessage: fc.boolean(),
      message: fc.oneof(fc.jsonValue(), fc.record({ id: fc.constantFrom('m', 'n', 2), content: fc.array(block) })),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.jsonValue(), line), { maxLength: 40 }), (lines) => {
      expect(claudeCodeImporter.recognise(lines, source)).toBeLessThanOrEqual(1);
      importLines(claudeCodeImporter, lines);
    }),
  );
});

test('a session that begins with the end of an earlier turn has the task that follows', () => {
  const { runs, diagnostics } = importLines(claudeCodeImporter, [
    user([result('of-an-earlier-file')]),
    user('<command-name>/exit</command-name>'),
    answer('m1', [{ type: 'text', text: 'No response requested.' }]),
    user('<local-command-stdout>Bye</local-command-stdout>'),
    user('Count the rows.'),
    answer('m2', [{ type: 'text', text: 'Four.' }]),
  ]);
  expect(runs[0]?.run.task).toBe('Count the rows.');
  expect(kinds(runs[0]?.payloads)?.filter((kind) => kind === 'message_appended')).toHaveLength(5);
  expect(diagnostics).toMatchObject([{ severity: 'note', message: 'left out: 1 tool results without a call' }]);
});

test('the tokens of a model that was asked for advice count with those of the answer, at its own price', () => {
  const asked = { type: 'advisor_message', model: 'claude-opus-4-1', input_tokens: 1000, output_tokens: 100 };
  const usage = { input_tokens: 20, output_tokens: 30, iterations: [{ type: 'message', input_tokens: 20 }, asked] };
  const [of, withUnknown] = [usage, { ...usage, iterations: [{ ...asked, model: 'unknown' }] }].map((counts) => {
    const content = [{ type: 'text', text: 'Done.' }];
    const message = { id: 'm1', role: 'assistant', model: 'claude-sonnet-4-5', content, usage: counts };
    const { runs } = importLines(claudeCodeImporter, [user('Do it.'), entry('assistant', content, { message })]);
    const payload = runs[0]?.payloads.find(
      (one) => one.kind === 'message_appended' && one.message.role === 'assistant',
    );
    return payload?.kind === 'message_appended' && payload.message.role === 'assistant'
      ? payload.message.usage
      : undefined;
  });
  // 1,000 input tokens for 15 $ and 100 output tokens for 75 $ a million, and 20 for 3 $ and 30 for 15 $.
  expect(of).toEqual({ input_tokens: 1020, output_tokens: 130, cost_usd: expect.closeTo(0.02301) });
  expect(withUnknown).toEqual({ input_tokens: 20, output_tokens: 30 });
});

test('the total of a session is without its subagents, which are runs with their own tokens and cost', () => {
  const model = 'claude-sonnet-4-5';
  const line = (id: string, parent: string | null, content: readonly object[]) => ({
    type: 'assistant',
    session_id: 's1',
    uuid: id,
    parent_tool_use_id: parent,
    message: { id, role: 'assistant', model, content, usage: { input_tokens: 1000, output_tokens: 100 } },
  });
  const { runs } = importLines(claudeCodeImporter, [
    line('m1', null, [use('task')]),
    line('m2', 'task', [{ type: 'text', text: 'Found.' }]),
    { type: 'user', session_id: 's1', uuid: 'r', message: { role: 'user', content: [result('task')] } },
    line('m3', null, [{ type: 'text', text: 'Done.' }]),
    {
      type: 'result',
      subtype: 'success',
      session_id: 's1',
      total_cost_usd: 0.02,
      modelUsage: { [model]: { inputTokens: 4000, outputTokens: 400 } },
    },
  ]);
  const ended = runs.find(({ run }) => run.id === 's1')?.payloads.at(-1);
  // 1,000 input tokens for 3 $ and 100 output tokens for 15 $ a million are the subagent's.
  expect(ended).toMatchObject({ usage: { tokens: 3300, cost_usd: expect.closeTo(0.0155) } });
});

const folder = sharedPath('trajectories/raw/claude-code-jsonl');
const samples = ['edge_cases.jsonl', 'representative_messages.jsonl', 'todowrite_examples.jsonl'];

/** A direct walk: sessions with a user or assistant message, and `tool_use` blocks. */
function walk(lines: readonly unknown[]): { readonly sessions: number; readonly calls: number } {
  const sessions = new Set<unknown>();
  let calls = 0;
  for (const line of lines) {
    const { message, sessionId, type } = (line ?? {}) as {
      message?: { content?: unknown };
      sessionId?: unknown;
      type?: unknown;
    };
    if (type !== 'user' && type !== 'assistant') continue;
    sessions.add(sessionId);
    if (Array.isArray(message?.content)) calls += message.content.filter((part) => part?.type === 'tool_use').length;
  }
  return { sessions: sessions.size, calls };
}

test.skipIf(folder === undefined).each(samples)('%s gives every session and every call (needs ../shared)', (name) => {
  const text = readFileSync(`${folder}/${name}`, 'utf8');
  const lines = text
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  expect(claudeCodeImporter.recognise(lines.slice(0, 32), source)).toBeGreaterThan(0.85);
  const { runs } = importLines(claudeCodeImporter, lines, name);
  const expected = walk(lines);
  expect(runs).toHaveLength(expected.sessions);
  expect(runs.reduce((sum, { calls }) => sum + calls.length, 0)).toBe(expected.calls);
});

test('a call that looks rejected was interrupted if the program has no terminal', () => {
  const text = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
  const outcomeOf = (entrypoint: string) => {
    const { runs } = importLines(claudeCodeImporter, [
      user('Run it.'),
      answer(`m-${entrypoint}`, [
        { type: 'tool_use', id: `t-${entrypoint}`, name: 'Bash', input: { command: 'node a.js' } },
      ]),
      user([{ type: 'tool_result', tool_use_id: `t-${entrypoint}`, content: text, is_error: true }], {
        entrypoint,
        toolDenialKind: 'user-rejected',
      }),
    ]);
    return runs[0]?.payloads.flatMap((one) => (one.kind === 'tool_ended' ? [one.outcome] : []));
  };
  expect(outcomeOf('sdk-cli')).toEqual(['cancelled']);
  expect(outcomeOf('cli')).toEqual(['refused']);
});
