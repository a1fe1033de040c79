import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { importDocument, importLines } from '../../../test/support/import-check.ts';
import { piImporter } from '../pi/pi.ts';
import { openaiChatImporter, openaiChatLinesImporter } from './openai-chat.ts';

const source = { path: 'file.json', name: 'file.json' };
const toolCall = (id: string, name: string, args: string) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

const conversation = [
  { role: 'developer', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', text: 'List the files.' }] },
  {
    role: 'assistant',
    content: null,
    tool_calls: [toolCall('c1', 'list', '{"path":"."}'), toolCall('c2', 'read', '{"path":')],
  },
  { role: 'tool', tool_call_id: 'c2', content: 'Error: no such file' },
  { role: 'tool', tool_call_id: 'c1', content: 'a.txt' },
  { role: 'assistant', content: 'There is one file.' },
];

test('a conversation becomes turns with calls first and results in the order they came', () => {
  const { runs, diagnostics } = importDocument(openaiChatImporter, conversation, 'talk.json');
  expect(diagnostics).toEqual([]);
  expect(runs[0]?.run).toEqual({ key: 'talk', id: 'talk', format: 'openai-chat', task: 'List the files.' });
  expect(runs[0]?.payloads.map((payload) => payload.kind)).toEqual([
    'message_appended',
    'message_appended',
    'turn_started',
    'message_appended',
    'tool_started',
    'tool_started',
    'tool_ended',
    'tool_ended',
    'turn_started',
    'message_appended',
  ]);
  expect(runs[0]?.calls.map((call) => call.args)).toEqual([{ path: '.' }, '{"path":']);
  expect(runs[0]?.ends).toMatchObject([
    { tool_call_id: 'c2', is_error: true, error_inferred: true },
    { tool_call_id: 'c1', is_error: false, result: 'a.txt' },
  ]);
  expect(runs[0]?.ends[1]).not.toHaveProperty('error_inferred');
});

test('legacy function calls have no ids and pair by order', () => {
  const { runs } = importDocument(openaiChatImporter, {
    messages: [
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
      { role: 'function', name: 'f', content: '2' },
    ],
  });
  expect(runs[0]?.calls).toMatchObject([{ tool_name: 'f', args: { a: 1 } }]);
  expect(runs[0]?.ends).toMatchObject([{ result: '2', is_error: false }]);
});

test('a call that the next answer leaves without a result ends as missing before that answer', () => {
  const { runs } = importDocument(openaiChatImporter, [
    { role: 'assistant', content: null, tool_calls: [toolCall('c1', 'f', '{}')] },
    { role: 'assistant', content: 'next' },
    { role: 'tool', tool_call_id: 'c1', content: 'late' },
  ]);
  expect(runs[0]?.payloads.map((payload) => payload.kind)).toEqual([
    'turn_started',
    'message_appended',
    'tool_started',
    'tool_ended',
    'turn_started',
    'message_appended',
  ]);
  expect(runs[0]?.ends).toMatchObject([{ result: null, result_missing: true, is_error: false }]);
});

test('a result without a call is named in a note', () => {
  const { diagnostics } = importDocument(openaiChatImporter, [{ role: 'tool', tool_call_id: 'x', content: 'y' }]);
  expect(diagnostics).toEqual([
    { severity: 'note', message: 'left out: 1 tool results without a call', runKey: 'file' },
  ]);
});

test('Responses API items in a row are one turn', () => {
  const items = [
    { role: 'user', content: 'go' },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ok' }] },
    { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
    { type: 'function_call', call_id: 'b', name: 'g', arguments: '{}' },
    { type: 'function_call_output', call_id: 'b', output: 'B' },
    { type: 'function_call_output', call_id: 'a', output: 'A' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] },
  ];
  expect(openaiChatImporter.recognise(items, source)).toBeGreaterThan(0.7);
  const [run] = importDocument(openaiChatImporter, items).runs;
  expect(run?.payloads.filter((payload) => payload.kind === 'turn_started')).toHaveLength(2);
  expect(run?.ends.map((end) => end.result)).toEqual(['B', 'A']);
  expect(run?.payloads[2]).toMatchObject({
    message: {
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'ok' },
        { type: 'tool_call', id: 'a' },
        { type: 'tool_call', id: 'b' },
      ],
    },
  });
});

test('each line with messages is a separate run, and lines that are messages are one run', () => {
  const many = importLines(openaiChatLinesImporter, [
    { messages: conversation },
    { id: 'mine', messages: conversation },
  ]);
  expect(many.runs.map(({ run }) => run.id)).toEqual(['file-1', 'mine']);
  expect(many.runs.map(({ calls }) => calls.length)).toEqual([2, 2]);
  const one = importLines(openaiChatLinesImporter, conversation);
  expect(one.runs.map(({ run }) => run.id)).toEqual(['file']);
  expect(one.runs[0]?.calls).toHaveLength(2);
});

test('a list of conversations in one document gives one run each', () => {
  const { runs } = importDocument(openaiChatImporter, [{ messages: conversation }, { messages: conversation }]);
  expect(runs.map(({ run }) => run.id)).toEqual(['file-1', 'file-2']);
});

test('it is less confident than formats that have messages among their own members', () => {
  expect(openaiChatImporter.recognise(conversation, source)).toBe(0.8);
  expect(openaiChatImporter.recognise({ messages: conversation }, source)).toBe(0.8);
  expect(openaiChatImporter.recognise({ messages: conversation, reward_info: null }, source)).toBe(0);
  expect(openaiChatImporter.recognise([{ traj: conversation, reward: 1 }], source)).toBe(0);
  expect(openaiChatImporter.recognise([{ kind: 'x' }], source)).toBe(0);
});

test('no JSON value makes it throw', () => {
  const message = fc.record(
    {
      role: fc.constantFrom('user', 'assistant', 'tool', 'function', 'system', 'odd', 3),
      type: fc.constantFrom('message', 'function_call', 'function_call_output', 'reasoning'),
      content: fc.jsonValue(),
      tool_calls: fc.oneof(fc.jsonValue(), fc.array(fc.record({ id: fc.jsonValue(), function: fc.jsonValue() }))),
      tool_call_id: fc.jsonValue(),
      summary: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const document = fc.oneof(fc.jsonValue(), fc.array(message), fc.record({ messages: fc.array(message) }));
  fc.assert(
    fc.property(document, fc.array(document), (value, lines) => {
      expect(openaiChatImporter.recognise(value, source)).toBeLessThanOrEqual(1);
      expect(openaiChatLinesImporter.recognise(lines, source)).toBeLessThanOrEqual(1);
      importDocument(openaiChatImporter, value);
      importLines(openaiChatLinesImporter, lines);
    }),
  );
});

test('messages of Cursor and Droid, which are in a member of each line, have their calls and results', () => {
  const content = [{ type: 'tool_use', id: 'c1', name: 'Execute', input: { command: 'ls' } }];
  const result = [{ type: 'tool_result', tool_use_id: 'c1', content: 'a.txt' }];
  const cursor = [
    { role: 'user', message: { content: [{ type: 'text', text: 'List the files.' }] } },
    { role: 'assistant', message: { content } },
    { role: 'user', message: { content: result } },
  ];
  const droid = [
    { type: 'session_start', id: 's1', title: 'List' },
    ...cursor.map(({ message, role }, at) => ({
      type: 'message',
      id: `m${at}`,
      parentId: 'm',
      timestamp: '2026-01-01T00:00:00Z',
      message: { role, ...message },
    })),
    { type: 'todo_state', id: 't1' },
  ];
  for (const lines of [cursor, droid]) {
    expect(openaiChatLinesImporter.recognise(lines, source)).toBeGreaterThan(0.7);
    expect(piImporter.recognise(lines, source)).toBe(0);
    const { runs, diagnostics } = importLines(openaiChatLinesImporter, lines);
    expect(diagnostics).toEqual([]);
    expect(runs[0]?.run.task).toBe('List the files.');
    expect(runs[0]?.ends.map((end) => [end.tool_name, end.result])).toEqual([['Execute', 'a.txt']]);
  }
});

test('an object with a role and nothing to say is no message', () => {
  expect(openaiChatLinesImporter.recognise([{ id: 'm1', sessionID: 's1', role: 'user', time: {} }], source)).toBe(0);
});

test('the task of messages one per line is the first of the user, also after instructions', () => {
  const { runs } = importLines(openaiChatLinesImporter, conversation);
  expect(runs.map(({ run }) => run.task)).toEqual(['List the files.']);
  expect(importLines(openaiChatLinesImporter, conversation.slice(0, 1)).runs).toHaveLength(1);
});

test('what an answer cost is read from its metadata, if it says it nowhere else', () => {
  const usage = { input_tokens: 120, output_tokens: 42, cache_read_tokens: 80, cache_creation_tokens: 3 };
  const { runs } = importLines(openaiChatLinesImporter, [
    { role: 'user', content: 'Go.' },
    { role: 'assistant', content: 'Done.', metadata: { model: 'm', usage, cost: 0.01 } },
  ]);
  expect(runs[0]?.payloads.at(-1)).toMatchObject({
    message: {
      model_id: 'm',
      usage: { input_tokens: 120, output_tokens: 42, cache_read_tokens: 80, cache_write_tokens: 3, cost_usd: 0.01 },
    },
  });
});

test('a call that the service of the Responses API ran has its result beside it, and is a part of its answer', () => {
  const { runs, diagnostics } = importDocument(openaiChatImporter, [
    { role: 'user', content: 'What is new?' },
    { type: 'mcp_list_tools', id: 'm1', tools: [] },
    { type: 'reasoning', id: 'r1', summary: [{ type: 'summary_text', text: 'I look.' }] },
    { type: 'web_search_call', id: 'w1', status: 'completed', action: { type: 'search', query: 'news' } },
    { type: 'code_interpreter_call', id: 'c1', status: 'failed', code: '1/0', outputs: null },
    { type: 'mcp_call', id: 'm2', name: 'ask', arguments: '{"q":1}', output: null, error: 'no', status: 'failed' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Much.' }] },
    { type: 'local_shell_call', id: 'l', call_id: 'l1', status: 'completed', action: { command: ['ls'] } },
    { type: 'local_shell_call_output', call_id: 'l1', output: 'a.txt' },
  ]);
  expect(diagnostics.map(({ message }) => message)).toEqual(['left out: 1 lists of tools']);
  expect(runs[0]?.calls.map(({ args, tool_name }) => [tool_name, args])).toEqual([
    ['web_search', { type: 'search', query: 'news' }],
    ['code_interpreter', { code: '1/0' }],
    ['ask', { q: 1 }],
    ['local_shell', { command: ['ls'] }],
  ]);
  expect(runs[0]?.ends.map(({ is_error, result }) => [is_error, result])).toEqual([
    [false, 'completed'],
    [true, 'failed'],
    [true, 'no'],
    [false, 'a.txt'],
  ]);
  expect(runs[0]?.payloads.filter(({ kind }) => kind === 'turn_started')).toHaveLength(1);
});
