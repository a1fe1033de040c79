import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { markPattern, nextMark, nextMarkByHand } from './secret-marks.ts';
import { NAME_ENDINGS } from './secret-names.ts';
import { TOKEN_PREFIXES } from './token-prefixes.ts';

const MARK = markPattern();

const KEYS = ['API_KEY', 'password', 'Token', 'a1b2c3', 'AKIA', 'ATAT', 'AIza', 'ASIA', 'AB', 'SKa1', 'NRAL', 'dapi'];
const FORMS = [
  'Bearer ',
  'BASIC ',
  'basic',
  'Q~',
  '[REDACTED:',
  '-----BEGIN',
  '---- BEGIN',
  '--- BEGIN',
  '--user',
  '-u ',
];
const PARTS = [
  '-User-Key',
  'eyJ',
  '.atlasv1',
  '.slack.com/',
  '.com/api/',
  '://',
  '//',
  'u:p@',
  'deadbeef',
  'DEADBEEF:',
];
const UNITS = [
  '\\',
  '"',
  "'",
  '`',
  ']',
  ' ',
  ':',
  '=',
  '_',
  '-',
  '.',
  '~',
  '[',
  '@',
  '/',
  '?',
  '#',
  '<',
  '\n',
  '\t',
  '\v',
];
const OTHERS = [
  '\u00A0',
  '\uFEFF',
  '\u2028',
  'é',
  '\uD83D',
  'A',
  'S',
  'N',
  'd',
  'b',
  'B',
  '1',
  ' '.repeat(24),
  ' '.repeat(25),
];
const LONG = ['x'.repeat(20), 'x'.repeat(2_047)];
const PREFIXES = TOKEN_PREFIXES.map(({ prefix }) => prefix);

const pieces = [...PREFIXES, ...NAME_ENDINGS, ...KEYS, ...FORMS, ...PARTS, ...UNITS, ...OTHERS, ...LONG];

test('the marks found by hand are those that the pattern finds, wherever they stand', () => {
  const part = fc.constantFrom(...pieces);
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      const found: number[] = [];
      for (let at = nextMarkByHand(text, 0); at >= 0; at = nextMarkByHand(text, at + 1)) found.push(at);
      expect(found).toEqual([...text.matchAll(MARK)].map(({ index }) => index));
    }),
    { numRuns: 20_000 },
  );
});

test('a pair of pieces has by hand the mark that the pattern finds', () => {
  for (const left of pieces) {
    for (const right of pieces) {
      const text = left + right;
      const found = nextMarkByHand(text, 0);
      MARK.lastIndex = 0;
      expect([text, found]).toEqual([text, MARK.test(text) ? MARK.lastIndex - 1 : -1]);
    }
  }
});

test('a process that has looked at much text finds the same', () => {
  const text = 'password: x';
  expect([nextMark(text, 0), nextMark(text, 9)]).toEqual([8, -1]);
  expect(nextMark('x'.repeat(100_000), 0)).toBe(-1);
  expect([nextMark(text, 0), nextMark(text, 9)]).toEqual([8, -1]);
});
