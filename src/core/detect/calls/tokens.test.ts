import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { tokensOf, wordToken } from './tokens.ts';

test('case and order do not count, and punctuation separates words', () => {
  expect(tokensOf('src/Main.ts --flag')).toEqual(tokensOf('FLAG ts main SRC'));
  expect(tokensOf('a_b')).not.toEqual(tokensOf('a b'));
});

test('tokens are the hashes of the words, ascending, without repeats', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('alpha', 'Beta', 'gamma_1', 'ünder', '7', 'x'), { maxLength: 30 }),
      (words) => {
        const expected = [...new Set(words.map((word) => wordToken(word)))].sort((a, b) => a - b);
        expect(tokensOf(words.join(' ')).tokens).toEqual(expected);
      },
    ),
  );
});

test('at most 64 different words are returned', () => {
  expect(tokensOf(Array.from({ length: 200 }, (_, at) => `w${at}`).join(' ')).tokens).toHaveLength(64);
});

test('the frame key ignores numbers that stand alone in their argument', () => {
  const frame = (args: object): number => tokensOf(JSON.stringify(args)).frameKey;
  for (const word of ['a', 'ä']) {
    expect(frame({ date: '2026-06-01', of: word })).toBe(frame({ date: '2026-06-02', of: word }));
    expect(frame({ addr: '0x00071000', of: word })).toBe(frame({ addr: '0x00072000', of: word }));
    expect(frame({ q: `pizza 1 ${word}` })).not.toBe(frame({ q: `pizza 2 ${word}` }));
    expect(frame({ q: word })).not.toBe(frame({ q: `${word}b` }));
  }
});
