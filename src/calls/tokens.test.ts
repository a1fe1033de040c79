import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { tokensOf, wordToken } from './tokens.ts';

test('case and order do not count, punctuation parts words', () => {
  expect(tokensOf('src/Main.ts --flag')).toEqual(tokensOf('FLAG ts main SRC'));
  expect(tokensOf('a_b')).not.toEqual(tokensOf('a b'));
});

test('tokens are the hashes of the words, ascending, each once', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('alpha', 'Beta', 'gamma_1', 'ünder', '7', 'x'), { maxLength: 30 }),
      (words) => {
        const expected = [...new Set(words.map((word) => wordToken(word)))].sort((a, b) => a - b);
        expect(tokensOf(words.join(' '))).toEqual(expected);
      },
    ),
  );
});

test('a word has one token whether the text is ASCII or not', () => {
  expect(tokensOf('é').length).toBe(1);
  expect(tokensOf('plain é')).toContain(wordToken('plain'));
});

test('64 different words are kept', () => {
  expect(tokensOf(Array.from({ length: 200 }, (_, at) => `w${at}`).join(' ')).length).toBe(64);
});

test('a number that says how much is left out, another stays', () => {
  expect(tokensOf('SELECT a LIMIT 10')).toEqual(tokensOf('SELECT a LIMIT 500'));
  expect(tokensOf('SELECT ä LIMIT 10')).toEqual(tokensOf('SELECT ä LIMIT 500'));
  for (const word of ['a', 'ä']) {
    const aside = { frameKey: 0 };
    tokensOf(`SELECT top 3 ${word} LIMIT 10`, aside);
  }
  expect(tokensOf('page 10')).not.toEqual(tokensOf('page 11'));
});

test('the frame of arguments tells whether nothing but numbers of their own differ', () => {
  const frame = (args: object): number => {
    const aside = { frameKey: 0 };
    tokensOf(JSON.stringify(args), aside);
    return aside.frameKey;
  };
  for (const word of ['a', 'ä']) {
    expect(frame({ date: '2026-06-01', of: word })).toBe(frame({ date: '2026-06-02', of: word }));
    expect(frame({ addr: '0x00071000', of: word })).toBe(frame({ addr: '0x00072000', of: word }));
    expect(frame({ q: `pizza 1 ${word}` })).not.toBe(frame({ q: `pizza 2 ${word}` }));
    expect(frame({ q: word })).not.toBe(frame({ q: `${word}b` }));
  }
});
