import { expect, test } from 'vitest';

import { LastWordsFold } from './last-words.ts';

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

function wordsAfter(...messages: readonly Message[]): LastWordsFold['words'] {
  const fold = new LastWordsFold();
  for (const message of messages) fold.fold({ kind: 'message_appended', message });
  return fold.words;
}

const says = (content: string): Message => ({ role: 'assistant', content });
const asks = (content: string): Message => ({ role: 'user', content });

test('a long message keeps its beginning and its last paragraph, a short one is whole', () => {
  expect(wordsAfter(says('Done.'))).toEqual({ lastMessage: 'Done.' });
  const text = `All five are fixed.\n\n${'- a file\n'.repeat(100)}\n\nShould I push?\n\n---`;
  expect(wordsAfter(says(text))).toMatchObject({
    lastMessage: expect.stringMatching(/^All five are fixed\.\n/),
    lastParagraph: 'Should I push?',
  });
  expect(wordsAfter(says('word '.repeat(200))).lastParagraph).toMatch(/^word word .* word$/);
});

test('the last request is that of the user, if there was more than one', () => {
  expect(wordsAfter(asks('Fix the login')).lastRequest).toBeUndefined();
  expect(wordsAfter(asks('Fix the login'), says('Done.'), asks('Now open a pull request')).lastRequest).toBe(
    'Now open a pull request',
  );
  const echoes = [
    '<command-name>/exit</command-name>',
    '[Request interrupted by user]',
    '<system-reminder>x</system-reminder>',
  ];
  expect(wordsAfter(asks('Fix the login'), ...echoes.map(asks)).lastRequest).toBeUndefined();
});

test('the last message is the text after the last thought, and the words of a call that is the answer', () => {
  const fold = new LastWordsFold();
  const content = [
    { type: 'text', text: 'I check it once more.' },
    { type: 'reasoning', text: 'fine' },
    { type: 'text', text: 'All is written.' },
  ] as const;
  fold.fold({ kind: 'message_appended', message: { role: 'assistant', content } });
  expect(fold.words.lastMessage).toBe('All is written.');
  const args = { summary: 'The message was sent.' };
  fold.fold({ kind: 'tool_started', tool_call_id: 'a', tool_name: 'task_complete', args });
  expect(fold.words.lastMessage).toBe('The message was sent.');
});

test('of Codex the last of several texts is the last message: the others are comments', () => {
  const wordsOf = (format: string): string | undefined => {
    const fold = new LastWordsFold();
    fold.fold({ kind: 'run_started', identity: { run_id: 'r', depth: 0 }, format });
    const content = ['I check it once more.', 'All is written.'].map((text) => ({ type: 'text', text }) as const);
    fold.fold({ kind: 'message_appended', message: { role: 'assistant', content } });
    return fold.words.lastMessage;
  };
  expect(wordsOf('codex')).toBe('All is written.');
  expect(wordsOf('claude-code')).toBe('I check it once more.\nAll is written.');
});
