import { expect, test } from 'vitest';

import { questionIn } from './last-act.ts';

test.each([
  ['All tests pass. Want me to push and open a PR?', 'Want me to push and open a PR?'],
  ['The config has two owners.\nWhich one stays, **a** or `b`?', 'Which one stays, a or b?'],
  ['Should I use 19% or 20%? Just let me know!', 'Should I use 19% or 20%?'],
  ['手順を確認しました。動作検証します。やりますか？', 'やりますか？'],
])('%j ends with a question', (text, question) => {
  expect(questionIn(text)).toBe(question);
});

test.each([
  'Done. Anything else you need help with before you switch machines?',
  'All of it is in place. Is there anything else you would like to automate?',
  'Anything else on the list? We could do the docs. Just let me know!',
  'The page is up. Do you have any other questions?',
  'The migration is done. What would you like to work on next?',
  'Why did it fail? The port was taken.',
])('%j asks nothing that a person must answer', (text) => {
  expect(questionIn(text)).toBeUndefined();
});

test('a long question is cut at its beginning, and says so', () => {
  const question = questionIn(`Do you want ${'this and '.repeat(40)}that?`);
  expect(question).toHaveLength(200);
  expect(question).toMatch(/^….*that\?$/);
});
