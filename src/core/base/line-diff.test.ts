import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineDiff } from './line-diff.ts';

const shown = (before: string, after: string, context?: number): readonly string[] =>
  lineDiff(before, after, context).map(({ sign, text }) => sign + text);

test('added and removed lines are shown with their context', () => {
  expect(shown('a\nb\nc\nd\ne\nf\ng', 'a\nb\nc\nX\ne\nf\ng', 1)).toEqual([' c', '-d', '+X', ' e', ' …']);
  expect(shown('same', 'same')).toEqual([]);
});

test('applying the diff gives the other text', () => {
  const texts = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 }).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const lines = lineDiff(before, after, 100);
      const side = (sign: '-' | '+'): string =>
        lines
          .filter((line) => line.sign === ' ' || line.sign === sign)
          .map(({ text }) => text)
          .join('\n');
      expect([side('-'), side('+')]).toEqual(before === after ? ['', ''] : [before, after]);
    }),
  );
});
