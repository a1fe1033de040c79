import { expect, test } from 'vitest';
import { PromptNews } from './agent-loop.ts';
import type { PromptMessage } from './sdk-shapes.ts';

const user = (text: string): PromptMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const system = (content: string): PromptMessage => ({ role: 'system', content });
const answer: PromptMessage = { role: 'assistant', content: [{ type: 'text', text: 'done' }] };
const result: PromptMessage = { role: 'tool', content: [] };

function newsIn(...requests: readonly (readonly PromptMessage[])[]): readonly unknown[] {
  const news = new PromptNews();
  return requests.map((request) => news.take(request, false).messages.map(({ content }) => content));
}

test('a message of the user is new in the request it comes with, and in none after', () => {
  expect(newsIn([user('go')], [user('go'), answer, result], [user('go'), answer, result, answer, user('on')])).toEqual([
    ['go'],
    [],
    ['on'],
  ]);
});

test('a request that is tried again, and a host that says the same beside every request, bring nothing new', () => {
  expect(newsIn([user('go')], [user('go')], [user('go'), answer, result, user('go')])).toEqual([['go'], [], []]);
});

test('the same words are new once they were not said, or once the last answer stood', () => {
  expect(newsIn([user('go')], [user('go'), answer, result], [user('go'), answer, result, answer, user('go')])).toEqual([
    ['go'],
    [],
    ['go'],
  ]);
  const news = new PromptNews();
  news.take([user('go')], false);
  expect(news.take([user('go'), answer, user('go')], true)).toMatchObject({
    isTask: true,
    messages: [{ content: 'go' }],
  });
});

test('instructions are new when they change', () => {
  expect(
    newsIn(
      [system('a'), user('go')],
      [system('a'), user('go'), answer, result],
      [system('b'), user('go'), answer, result],
    ),
  ).toEqual([['a', 'go'], [], ['b']]);
});

test('instructions alone are no task', () => {
  expect(new PromptNews().take([system('a')], true)).toMatchObject({ isTask: false, messages: [{ role: 'system' }] });
});
