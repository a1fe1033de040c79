import { expect, test } from 'vitest';
import { unrecognisedEvent } from '../host/steered-fetch.ts';
import { answerOf, callsOfRunner, openaiApi, toIssuedCall } from './to-events.ts';

test('a chat completion is a message with its calls, its usage and why it ended', () => {
  const answer = answerOf({
    model: 'gpt-5',
    choices: [
      {
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: 'I look.',
          reasoning_content: 'Where?',
          refusal: null,
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
            { id: 'b', type: 'custom', custom: { name: 'run', input: 'ls' } },
          ],
        },
      },
      { message: { content: 'a second choice' } },
    ],
    usage: { prompt_tokens: 9, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } },
  });
  expect(answer).toEqual({
    message: {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Where?' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_call', id: 'a', name: 'look', args: { at: 1 } },
        { type: 'tool_call', id: 'b', name: 'run', args: 'ls' },
      ],
      stopReason: 'tool_calls',
      modelId: 'gpt-5',
      usage: { inputTokens: 9, outputTokens: 3, cacheReadTokens: 4 },
    },
    calls: [
      { id: 'a', name: 'look', args: { at: 1 }, argsText: '{"at":1}' },
      { id: 'b', name: 'run', args: 'ls', argsText: 'ls' },
    ],
  });
});

test('a function_call of old and a refusal are understood too', () => {
  const old = answerOf({ choices: [{ message: { content: null, function_call: { name: 'look', arguments: '' } } }] });
  expect(old?.calls).toEqual([{ id: '', name: 'look', args: {}, argsText: '' }]);
  const refused = answerOf({ choices: [{ finish_reason: 'length', message: { content: null, refusal: 'No.' } }] });
  expect(refused?.message).toEqual({ role: 'assistant', content: 'No.', stopReason: 'length' });
});

test('a response is all its items in order; what has no name here is kept whole', () => {
  const answer = answerOf({
    object: 'response',
    model: 'gpt-5',
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output: [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { type: 'web_search_call', id: 'ws', status: 'completed', action: { type: 'search', query: 'tides' } },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call', id: 'fc', call_id: 'a', name: 'look', arguments: '{"at":' },
      { type: 'custom_tool_call', call_id: 'b', name: 'run', input: 'ls' },
      { type: 'mcp_call', id: 'mcp', name: 'find', arguments: '{}', output: 'found', error: null },
      { type: 'mcp_call', id: 'mcp2', name: 'find', arguments: '{}', output: null, error: 'no server' },
    ],
    usage: {
      input_tokens: 7,
      output_tokens: 2,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 1 },
    },
  });
  expect(answer?.message).toEqual({
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'tool_call', id: 'ws', name: 'web_search', args: { type: 'search', query: 'tides' } },
      { type: 'text', text: 'I look.' },
      { type: 'tool_call', id: 'a', name: 'look', args: '{"at":' },
      { type: 'tool_call', id: 'b', name: 'run', args: 'ls' },
      { type: 'tool_call', id: 'mcp', name: 'find', args: {} },
      { type: 'tool_call', id: 'mcp2', name: 'find', args: {} },
    ],
    stopReason: 'max_output_tokens',
    modelId: 'gpt-5',
    usage: { inputTokens: 7, outputTokens: 2, cacheReadTokens: 0, reasoningTokens: 1 },
  });
  expect(answer?.calls.map(({ id, answer: own }) => [id, own])).toEqual([
    ['ws', { result: 'completed', isError: false }],
    ['a', undefined],
    ['b', undefined],
    ['mcp', { result: 'found', isError: false }],
    ['mcp2', { result: 'no server', isError: true }],
  ]);
});

test('a response that failed has its error', () => {
  const answer = answerOf({ status: 'failed', error: { code: 'server_error', message: 'Sorry.' }, output: [] });
  expect(answer?.message).toEqual({ role: 'assistant', content: '', stopReason: 'failed', errorMessage: 'Sorry.' });
});

test.each([
  ['nothing', undefined],
  ['a text', '<html>'],
  ['a list', []],
  ['invalid choices', { choices: 'three' }],
  ['an empty list of choices', { choices: [] }],
  ['a choice without a message', { choices: [{}] }],
])('%s is no answer', (_what, body) => {
  expect(answerOf(body)).toBeUndefined();
});

test.each([
  [
    'calls of an unknown shape',
    { choices: [{ message: { tool_calls: [null, 'x', { id: 4, function: { name: 3 } }] } }] },
  ],
  ['invalid items', { output: [null, 7, [], { type: 5 }] }],
  ['invalid usage', { output: [], usage: 'much', model: 5, error: 'x', incomplete_details: [] }],
])('%s are kept, and nothing throws', (_what, body) => {
  expect(answerOf(body)?.message.role).toBe('assistant');
});

test('a response that is worked on in the background is not finished', () => {
  expect([
    openaiApi.isUnfinished?.({ status: 'queued' }),
    openaiApi.isUnfinished?.({ status: 'completed' }),
    openaiApi.isUnfinished?.(null),
  ]).toEqual([true, false, false]);
});

test('calls of a runner are those of its last answer', () => {
  const messages = [
    { role: 'assistant', tool_calls: [{ id: 'old', function: { name: 'look', arguments: '{}' } }] },
    { role: 'assistant', tool_calls: [{ id: 'new', function: { name: 'look', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'x', content: '' },
  ];
  expect(callsOfRunner({ messages }).map(({ id }) => id)).toEqual(['new']);
  expect([callsOfRunner(undefined), callsOfRunner({ messages: 3 })]).toEqual([[], []]);
});

test('calls of a loop of one’s own have one shape', () => {
  const named = { name: 'run', input: 'ls' };
  expect(toIssuedCall({ type: 'function', id: 'a', function: { name: 'look', arguments: '{}' } }).id).toBe('a');
  expect(toIssuedCall({ type: 'custom', id: 'b', custom: named })).toEqual({
    id: 'b',
    name: 'run',
    args: 'ls',
    argsText: 'ls',
  });
  expect(toIssuedCall({ type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' }).id).toBe('c');
  expect(toIssuedCall({ type: 'custom_tool_call', call_id: 'd', ...named }).id).toBe('d');
});

test('unknown content is an event that keeps it', () => {
  expect(unrecognisedEvent(openaiApi, 'answer', { odd: true })).toEqual({
    type: 'unrecognised',
    original: { kind: 'openai/answer', value: { odd: true } },
  });
});
