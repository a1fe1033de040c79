import { expect, test } from 'vitest';
import { newsOfItems } from '../host/response-items.ts';
import { requestOf, type ModelRequest } from './openai-steering.ts';

function request(body: unknown): ModelRequest {
  const found = requestOf(body);
  if (found === undefined) throw new Error('no request');
  return found;
}

test('in a chain every item is new, however many the last request had', () => {
  const chained = request({ input: [{ role: 'user', content: 'More.' }], previous_response_id: 'r' });
  expect([chained.isChained, newsOfItems(chained.items, { seen: 9, isChained: true }).messages.length]).toEqual([
    true,
    1,
  ]);
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
