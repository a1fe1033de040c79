import { expect, test } from 'vitest';
import { answerParts, callOfItem, newsOfItems } from './response-items.ts';

const FIRST = { seen: 0, isChained: false };
const HISTORY = [
  { role: 'developer', content: 'Be kind.' },
  { role: 'user', content: [{ type: 'text', text: 'Go.' }] },
  { role: 'assistant', content: null, tool_calls: [{ id: 'a' }] },
  { role: 'tool', tool_call_id: 'a', content: 'quiet' },
];

test('messages of the user and the system, and tool results, are new', () => {
  expect(newsOfItems(HISTORY.slice(0, 2), FIRST)).toEqual({
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Go.' },
    ],
    results: [],
  });
  expect(newsOfItems(HISTORY, { seen: 2, isChained: false })).toEqual({
    messages: [],
    results: [{ id: 'a', result: 'quiet', isError: false }],
  });
});

test('items of Responses are read alike, and items of the model are not new', () => {
  const input = [
    { role: 'user', content: 'Go.' },
    { type: 'reasoning', summary: [] },
    { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'quiet' }] },
    { type: 'custom_tool_call_output', call_id: 'b', output: 'ran' },
  ];
  expect(newsOfItems(input, { seen: 1, isChained: false }).results).toEqual([
    { id: 'a', result: 'quiet', isError: false },
    { id: 'b', result: 'ran', isError: false },
  ]);
});

test('messages of an unknown shape are skipped', () => {
  const odd = [null, 3, { role: 'oracle' }, { role: 'tool' }, { role: 'user' }];
  expect(newsOfItems(odd, FIRST)).toEqual({ messages: [{ role: 'user', content: '' }], results: [] });
});

test('shell, patch and computer calls are read, and their outputs show whether they failed', () => {
  const calls = [
    { type: 'shell_call', id: 'x', call_id: 'a', action: { commands: ['npm ci', 'npm test'], timeout_ms: 9 } },
    { type: 'apply_patch_call', id: 'x', call_id: 'b', operation: { type: 'delete_file', path: 'a.ts' } },
    { type: 'computer_call', id: 'x', call_id: 'c', actions: [{ type: 'screenshot' }] },
    { type: 'local_shell_call', id: 'd', action: { type: 'exec', command: ['ls'], env: {} } },
    { type: 'custom_tool_call', call_id: 'e', name: 'run', input: 'ls' },
  ];
  expect(answerParts(calls).map(({ call }) => [call?.id, call?.name, call?.args, call?.answer])).toEqual([
    ['a', 'shell', { command: 'npm ci\nnpm test', timeout_ms: 9 }, undefined],
    ['b', 'apply_patch', { type: 'delete_file', path: 'a.ts' }, undefined],
    ['c', 'computer', [{ type: 'screenshot' }], undefined],
    ['d', 'local_shell', { type: 'exec', command: ['ls'], env: {} }, undefined],
    ['e', 'run', 'ls', undefined],
  ]);
  const ok = { stdout: 'added 3', stderr: '', outcome: { type: 'exit', exit_code: 0 } };
  const broken = { stdout: '', stderr: 'no test', outcome: { type: 'exit', exit_code: 1 } };
  const outputs = [
    ...calls,
    { type: 'shell_call_output', call_id: 'a', output: [ok, broken, { outcome: { type: 'timeout' } }] },
    { type: 'apply_patch_call_output', call_id: 'b', status: 'failed', output: 'no such file' },
    { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', file_id: 'f' } },
    { type: 'local_shell_call_output', id: 'd', output: 'a.ts' },
  ];
  expect(newsOfItems(outputs, { seen: 0, isChained: true }).results).toEqual([
    { id: 'a', result: 'added 3\nno test\nexit code 1\ntimed out', isError: true },
    { id: 'b', result: 'no such file', isError: true },
    { id: 'c', result: { type: 'computer_screenshot', file_id: 'f' }, isError: false },
    { id: 'd', result: 'a.ts', isError: false },
  ]);
});

test('a call that the provider runs itself is one call with its query and result, wherever the result is', () => {
  const found = { type: 'search', query: 'tides', sources: [{ type: 'url', url: 'https://x.test' }] };
  const shell = { stdout: '1', stderr: '', outcome: { type: 'exit', exit_code: 0 } };
  const parts = answerParts([
    { type: 'web_search_call', id: 'a', status: 'completed', action: found },
    { type: 'file_search_call', id: 'b', status: 'failed', queries: ['x'], results: null },
    {
      type: 'code_interpreter_call',
      id: 'c',
      status: 'completed',
      code: '1 + 1',
      outputs: [{ type: 'logs', logs: '2' }],
    },
    { type: 'image_generation_call', id: 'd', status: 'completed', result: 'AAAA', size: '8x8' },
    { type: 'shell_call', id: 'x', call_id: 'e', action: { commands: ['echo 1'] } },
    { type: 'shell_call_output', id: 'y', call_id: 'e', output: [shell] },
    { type: 'tool_search_call', id: 'f', call_id: null, execution: 'server', arguments: { q: 'x' } },
    { type: 'tool_search_output', id: 'z', call_id: null, tools: [{ name: 'x' }] },
    {
      type: 'hosted_tool_call',
      id: 'g',
      name: 'mcp_call',
      providerData: { name: 'find', arguments: '{}', error: 'down' },
    },
  ]);
  expect(parts.map(({ call }) => [call?.id, call?.name, call?.args, call?.answer])).toEqual([
    ['a', 'web_search', { type: 'search', query: 'tides' }, { result: found.sources, isError: false }],
    ['b', 'file_search', { queries: ['x'] }, { result: 'failed', isError: true }],
    ['c', 'code_interpreter', { code: '1 + 1' }, { result: [{ type: 'logs', logs: '2' }], isError: false }],
    ['d', 'image_generation', { size: '8x8' }, { result: { type: 'image', data: 'AAAA' }, isError: false }],
    ['e', 'shell', { command: 'echo 1' }, { result: '1', isError: false }],
    ['f', 'tool_search', { q: 'x' }, { result: [{ name: 'x' }], isError: false }],
    ['g', 'find', {}, { result: 'down', isError: true }],
  ]);
});

test('a local call needs an id; its arguments need not be JSON', () => {
  const look = { type: 'function_call', name: 'look', arguments: '{"at"' };
  expect(callOfItem({ ...look, callId: 'x' })).toMatchObject({ id: 'x', args: '{"at"', argsText: '{"at"' });
  expect([callOfItem(look), callOfItem(null), callOfItem({ type: 'message' })]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
