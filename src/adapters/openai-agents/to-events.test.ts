import { expect, test } from 'vitest';
import {
  answerOf,
  deltaOf,
  doneResponseOf,
  isChained,
  itemsOf,
  newsOf,
  saysThatItFailed,
  unrecognisedEvent,
} from './to-events.ts';

const SEARCH = { id: 'ws', type: 'web_search_call', action: { type: 'search', query: 'tides' } };
const BEFORE = { seen: 0, instructions: undefined };

test('a response is all its items in order, with usage, model and reason as the provider said them', () => {
  const answer = answerOf(
    {
      usage: {
        inputTokens: 9,
        outputTokens: 3,
        inputTokensDetails: [{ cached_tokens: 4 }],
        outputTokensDetails: { reasoning_tokens: 2 },
      },
      output: [
        { type: 'reasoning', content: [{ type: 'input_text', text: 'Hm.' }] },
        { type: 'hosted_tool_call', id: 'ws', name: 'web_search_call', status: 'completed', providerData: SEARCH },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
        { type: 'function_call', callId: 'a', name: 'look', arguments: '{"at":1}' },
        { type: 'shell_call', callId: 'b', action: { commands: ['ls'] } },
      ],
      providerData: { model: 'gpt-5-2026', status: 'completed' },
    },
    'gpt-5',
  );
  expect(answer).toMatchObject({
    message: {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'tool_call', id: 'ws', name: 'web_search', args: { type: 'search', query: 'tides' } },
        { type: 'text', text: 'I look.' },
        { type: 'tool_call', id: 'a', name: 'look', args: { at: 1 } },
        { type: 'tool_call', id: 'b', name: 'shell', args: { command: 'ls' } },
      ],
      stopReason: 'completed',
      modelId: 'gpt-5-2026',
      usage: { inputTokens: 9, outputTokens: 3, cacheReadTokens: 4, reasoningTokens: 2 },
    },
    calls: [
      { id: 'ws', answer: { result: 'completed', isError: false } },
      { id: 'a', name: 'look', args: { at: 1 }, argsText: '{"at":1}' },
      { id: 'b', name: 'shell', args: { command: 'ls' } },
    ],
  });
});

test('where the provider names no model, the name that was asked for stands in; chat has a finish reason', () => {
  const answer = answerOf({ output: [], providerData: { choices: [{ finish_reason: 'length' }] } }, 'gpt-5');
  expect(answer?.message).toEqual({ role: 'assistant', content: '', modelId: 'gpt-5', stopReason: 'length' });
});

test.each([[undefined], ['text'], [{}], [{ output: 'none' }]])('%j is no response', (response) => {
  expect(answerOf(response, undefined)).toBeUndefined();
});

test('items of an unknown shape are kept whole', () => {
  const answer = answerOf({ output: [7, { type: 'function_call' }], usage: 'much', providerData: [] }, undefined);
  expect(answer).toEqual({
    message: {
      role: 'assistant',
      content: [
        { type: 'other', value: 7 },
        { type: 'other', value: { type: 'function_call' } },
      ],
    },
    calls: [],
  });
});

test('what the user said and what tools answered is news, instructions where they changed', () => {
  const input = [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go.' }] },
    { type: 'function_call', callId: 'a', name: 'look', arguments: '{}' },
    { type: 'function_call_result', callId: 'a', name: 'look', output: { type: 'text', text: 'quiet' } },
    {
      type: 'shell_call_output',
      callId: 'b',
      output: [{ stdout: '', stderr: 'no', outcome: { type: 'exit', exitCode: 2 } }],
    },
  ];
  const request = { input, systemInstructions: 'Be kind.' };
  expect(newsOf(request, input.slice(0, 1), BEFORE)).toEqual({
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Go.' },
    ],
    results: [],
  });
  expect(newsOf(request, input, { seen: 1, instructions: 'Be kind.' })).toEqual({
    messages: [],
    results: [
      { id: 'a', result: 'quiet', isError: false },
      { id: 'b', result: 'no\nexit code 2', isError: true },
    ],
  });
});

test('where the provider keeps the conversation, every item is new', () => {
  const request = { input: [], conversationId: 'c' };
  const items = [{ role: 'user', content: 'More.' }, null, 3];
  expect([isChained(request), newsOf(request, items, { seen: 9, instructions: undefined }).messages.length]).toEqual([
    true,
    1,
  ]);
});

test('an input is a text or a list', () => {
  expect(itemsOf({ input: 'Go.' })).toEqual([{ type: 'message', role: 'user', content: 'Go.' }]);
  expect(itemsOf({ input: { odd: true } })).toBeUndefined();
});

test('the SDK’s own words for a tool that failed are known, and nothing else', () => {
  const failed = [
    'An error occurred while running the tool. Please try again.',
    'An error occurred while running the tool. Please try again. Error: kaboom',
    'An error occurred while parsing tool arguments. Please try again with valid JSON.',
    "Tool 'look' timed out after 50ms.",
  ];
  expect(failed.map(saysThatItFailed)).toEqual([true, true, true, true]);
  expect(['The log says: An error occurred while running the tool.', 7].map(saysThatItFailed)).toEqual([false, false]);
});

test('events of a stream: words, and the whole at the end', () => {
  const response = { output: [] };
  expect(deltaOf({ type: 'output_text_delta', delta: 'Hel' })).toBe('Hel');
  expect(doneResponseOf({ type: 'response_done', response })).toBe(response);
  expect([deltaOf({ type: 'model', event: {} }), doneResponseOf(undefined)]).toEqual([undefined, undefined]);
});

test('unknown content is an event that keeps it', () => {
  expect(unrecognisedEvent('answer', 7)).toEqual({
    type: 'unrecognised',
    original: { kind: 'openai-agents/answer', value: 7 },
  });
});
