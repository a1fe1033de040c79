import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { costGrowth, MOST_LINEAR_GROWTH } from '../../../test/support/cost-growth.ts';
import { distinctCuts, jsonLine, printable, printableCut, shortPaths } from './printable.ts';

const ACTS_ON_A_TERMINAL = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u;

test.each([
  ['a\u001b[31mred\u001b[0m', 'ared'],
  ['\u001b]0;title\u0007after', 'after'],
  ['\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\', 'link'],
  ['\u001b]0;never closed', ']0;never closed'],
  ['\u009b2Jx\u009d0;t\u009cy', 'xy'],
  ['\u001bc\u001b(Bz', 'z'],
  ['one\r\ntwo\nthree\rfour\u2028five', 'one⏎two⏎three⏎four⏎five'],
  ['tab\there', 'tab here'],
  ['\u202egnp.exe\u202c', 'gnp.exe'],
  ['\u2066a\u2069\u200e\u200f\u061c\u200b\u200d\ufeffb', 'ab'],
  ['\u{e0041}tag', 'tag'],
  ['bell\u0007 nul\u0000 del\u007f', 'bell nul del'],
  ['lone \ud800 half', 'lone \ufffd half'],
  ['plain ünï 日本 🚣', 'plain ünï 日本 🚣'],
])('%j is printed as %j', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

const hostile = fc.string({
  unit: fc.constantFrom(
    '\u001b',
    '[',
    ']',
    '0',
    ';',
    'm',
    '\u0007',
    '\\',
    '\u009b',
    '\u202e',
    '\u2066',
    '\n',
    'a',
    '\ud800',
  ),
});

test('no text keeps a character that acts on a terminal', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(printable(text)).not.toMatch(ACTS_ON_A_TERMINAL);
      expect(printable(text)).not.toMatch(/[\ud800-\udfff]/u);
    }),
  );
});

test('a line of JSON has no character that acts on a terminal and parses to the same value', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const line = jsonLine({ [text]: text });
      expect(line.slice(0, -1)).not.toMatch(ACTS_ON_A_TERMINAL);
      expect(JSON.parse(line)).toEqual({ [text]: text });
    }),
  );
  expect(jsonLine('\u{e0041}')).toBe('"\\udb40\\udc41"\n');
});

test('only text over the limit is cut, and to the limit', () => {
  expect(printableCut('abcdef', 6)).toBe('abcdef');
  expect(printableCut('abcdefg', 6)).toBe('abcde…');
  expect(printableCut('🚣🚣🚣', 4).isWellFormed()).toBe(true);
});

test('many unclosed sequences take linear time', () => {
  const growth = costGrowth((factor) => {
    printable('\u001b]'.repeat(8_000 * factor));
    printable('\u001b['.repeat(8_000 * factor));
    printable(`\u001b]${'x'.repeat(16_000 * factor)}`);
  });
  expect(growth).toBeLessThan(MOST_LINEAR_GROWTH);
});

test('names that differ are cut so that they still do, to a length that does not depend on what they share', () => {
  const name = fc.tuple(
    fc.constantFrom('', 'a/b/c/'.repeat(30)),
    fc.string({ unit: fc.constantFrom('a', '/'), maxLength: 90 }),
  );
  fc.assert(
    fc.property(
      fc.uniqueArray(
        name.map((parts) => parts.join('')),
        { maxLength: 12 },
      ),
      (names) => {
        const cuts = distinctCuts(names, 20);
        expect(new Set(cuts).size).toBe(names.length);
        expect(cuts.filter((_, at) => (names[at] ?? '').length <= 20)).toEqual(
          names.filter((text) => text.length <= 20),
        );
      },
    ),
    { numRuns: 500 },
  );
  const shared = 'the/same/folder/'.repeat(60);
  expect(distinctCuts([`${shared}one`, `${shared}two`], 20)).toEqual(['the/same/…one', 'the/same/…two']);
});

test('a long path becomes its last part, and an address or a short path stays', () => {
  expect(shortPaths(`import("/home/ann/projects/shop/src/types/Row").Row`)).toBe('import("…/Row").Row');
  expect(shortPaths(String.raw`Edit C:\Users\Administrator\.claude\mimo\mimo.js`)).toBe(String.raw`Edit …\mimo.js`);
  const kept =
    'https://github.com/entireio/external-agents/pull/12 src/rpc/router/a.ts ./scripts/watch-tests.sh --once';
  expect(shortPaths(kept)).toBe(kept);
  expect(costGrowth((factor) => shortPaths('-a/'.repeat(4_000 * factor)))).toBeLessThan(MOST_LINEAR_GROWTH);
});
