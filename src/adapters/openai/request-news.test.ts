import { expect, test } from 'vitest';
import { newsOf, requestOf, type ModelRequest } from './request-news.ts';

function request(body: unknown): ModelRequest {
  const found = requestOf(body);
  if (found === undefined) throw new Error('no request');
  return found;
}

const HISTORY = [
  { role: 'developer', content: 'Be kind.' },
  { role: 'user', content: [{ type: 'text', text: 'Go.' }] },
  { role: 'assistant', content: null, tool_calls: [{ id: 'a' }] },
  { role: 'tool', tool_call_id: 'a', content: 'quiet' },
];

test('what the user and the system said, and what tools answered, is news', () => {
  const chat = request({ messages: HISTORY.slice(0, 2) });
  expect(newsOf(chat, 0)).toEqual({
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Go.' },
    ],
    results: [],
  });
  expect(newsOf(request({ messages: HISTORY }), 2)).toEqual({ messages: [], results: [{ id: 'a', result: 'quiet' }] });
});

test('items of Responses are read alike, and what the model said is no news', () => {
  const input = [
    { role: 'user', content: 'Go.' },
    { type: 'reasoning', summary: [] },
    { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'quiet' }] },
    { type: 'custom_tool_call_output', call_id: 'b', output: 'ran' },
  ];
  expect(newsOf(request({ input, store: false }), 1).results).toEqual([
    { id: 'a', result: 'quiet' },
    { id: 'b', result: 'ran' },
  ]);
  expect(newsOf(request({ input: 'Go.' }), 0).messages).toEqual([{ role: 'user', content: 'Go.' }]);
});

test('in a chain every item is new, however many the last request had', () => {
  const chained = request({ input: [{ role: 'user', content: 'More.' }], previous_response_id: 'r' });
  expect([chained.isChained, newsOf(chained, 9).messages.length]).toEqual([true, 1]);
});

test.each([
  ['a chain goes on', { input: [], previous_response_id: 'r', store: false }, true],
  ['a conversation is kept', { input: [], conversation: 'c' }, true],
  ['a chain may begin', { input: 'Go.' }, true],
  ['nothing is stored', { input: 'Go.', store: false }, false],
  [
    'the history comes along',
    {
      input: [
        { role: 'user', content: 'Go.' },
        { role: 'assistant', content: 'Yes.' },
      ],
    },
    false,
  ],
  ['it is a chat', { messages: [] }, false],
])('what a request says stays with the provider where %s: %#', (_what, body, startsChain) => {
  expect(request(body).startsChain).toBe(startsChain);
});

test.each([[undefined], ['text'], [{}], [{ messages: 'no list' }], [{ input: 7 }]])('%j is no request', (body) => {
  expect(requestOf(body)).toBeUndefined();
});

test('messages of an unknown shape are passed over', () => {
  const odd = request({ messages: [null, 3, { role: 'oracle' }, { role: 'tool' }, { role: 'user' }] });
  expect(newsOf(odd, 0)).toEqual({ messages: [{ role: 'user', content: '' }], results: [] });
});
