import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutText } from './to-json.ts';

test('a text keeps its head and its tail, and the mark tells its size', () => {
  const lines = Array.from({ length: 100_000 }, (_, index) => `line ${index}`).join('\n');
  const cut = cutText(lines, 10_000);
  expect(cut.startsWith('line 0\nline 1\n')).toBe(true);
  expect(cut.endsWith('\nline 99999')).toBe(true);
  expect(cut).toMatch(new RegExp(`\n\\[… \\d+ of ${lines.length} characters left out …\\]\nline \\d+\n`));
  expect(cut.length).toBeLessThanOrEqual(10_000);
});

test('a cut is never longer than asked for, and halves no character', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', minLength: 300, maxLength: 900 }),
      fc.integer({ min: 256, max: 600 }),
      (text, max) => {
        const cut = cutText(text, max);
        expect(cut.length).toBeLessThanOrEqual(Math.max(max, 0));
        expect(cut.isWellFormed()).toBe(text.isWellFormed());
      },
    ),
  );
});

test('a cut does not fall into a private key', () => {
  const body = Array.from({ length: 40 }, (_, index) => `${'A'.repeat(60)}${index}`).join('\n');
  const key = `-----BEGIN RSA PRIVATE KEY-----\n${body}\n-----END RSA PRIVATE KEY-----`;
  const filler = 'some words of a log\n'.repeat(5_000);
  const max = 20_000;
  // In the way of the head's end, and of the tail's beginning.
  const text = `${filler.slice(0, 8_500)}${key}${filler}${key}${filler.slice(0, 8_500)}`;
  expect(cutText(text, max)).not.toContain('AAAA');
});
