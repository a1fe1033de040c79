import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { costGrowth, MOST_LINEAR_GROWTH } from '../../../test/support/cost-growth.ts';
import { findPhrases, phrasesIn, wordsIn } from './search-page.ts';

test('words are sequences of letters and digits in lower case, with their places', () => {
  const { words, offsets: places } = wordsIn('Open src/A.ts: naïve CAFÉ 磁盘x');
  expect(words).toEqual(['open', 'src', 'a', 'ts', 'naïve', 'café', '磁', '盘', 'x']);
  expect(places).toEqual([0, 5, 9, 11, 15, 21, 26, 27, 28]);
});

test('a phrase is quoted text, or a word with punctuation inside', () => {
  expect(phrasesIn('one "two three" four/five "" "six')).toEqual([
    ['one'],
    ['two', 'three'],
    ['four', 'five'],
    ['six'],
  ]);
});

test('phrases are found in any order, and the place is that of the first phrase of the query', () => {
  expect(findPhrases('a a b a b c', [['a', 'b', 'c']])).toBe(6);
  expect(findPhrases('x y', [['y'], ['x']])).toBe(2);
  expect(findPhrases('a b', [['b', 'a']])).toBeUndefined();
  expect(findPhrases('a b', [['a'], ['c']])).toBeUndefined();
  expect(findPhrases('', [['a']])).toBeUndefined();
});

test('the words of a text do not depend on the surrounding text, and each of them finds it', () => {
  const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.string());
  fc.assert(
    fc.property(anyText, anyText, (text, other) => {
      const { words, offsets: places } = wordsIn(text);
      expect(wordsIn(`${other}\n${text}\nx`).words).toEqual([...wordsIn(other).words, ...words, 'x']);
      expect(places.every((place) => place < text.length)).toBe(true);
      expect(words.every((word) => /^[\p{L}\p{N}\p{M}]+$/u.test(word))).toBe(true);
      expect(words.length === 0 || findPhrases(`${other} ${text}`, [words]) !== undefined).toBe(true);
    }),
  );
});

test('a text of a megabyte is split in linear time', () => {
  const growth = costGrowth((factor) => {
    const text = 'é'.repeat(16_000 * factor) + ' a'.repeat(8_000 * factor);
    expect(wordsIn(text).words).toHaveLength(8_000 * factor + 1);
  });
  expect(growth).toBeLessThan(MOST_LINEAR_GROWTH);
});
