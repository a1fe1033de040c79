import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { cutValues } from './read-records.ts';

test('a short payload stays as it is', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      expect(cutValues(value)).toEqual(value);
    }),
  );
});

test('a long text becomes a preview and its length', () => {
  const text = 'ab'.repeat(20_000);
  expect(cutValues({ kind: 'x', text })).toEqual({
    kind: 'x',
    text: { $cut: { chars: 40_000, preview: text.slice(0, 4_000) } },
  });
});

test('a cut splits no character', () => {
  const cut = cutValues({ text: `x${'😀'.repeat(15_000)}` });
  expect(JSON.stringify(cut)).not.toContain('\\ud83d"');
});

test('at most about 200,000 characters of any payload are sent', () => {
  const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`key-${index}`, 'y'.repeat(50)]));
  const long = Array.from({ length: 50_000 }, () => 'y'.repeat(50));
  let deep: unknown = 'bottom';
  for (let depth = 0; depth < 5_000; depth += 1) deep = { deep };
  for (const payload of [{ wide }, { long }, { deep }, { a: 'z'.repeat(19_000), long, wide, deep }]) {
    expect(JSON.stringify(cutValues(payload)).length).toBeLessThan(900_000);
  }
  expect(JSON.stringify(cutValues({ long })).length).toBeLessThan(300_000);
  expect(JSON.stringify(cutValues({ deep })).length).toBeLessThan(2_000);
});

test('a member named __proto__ stays one', () => {
  // JSON.parse makes it a member itself.
  const payload: unknown = JSON.parse(`{"__proto__": "${'x'.repeat(30_000)}", "a": 1}`);
  expect(Object.keys(cutValues(payload) as object)).toEqual(['__proto__', 'a']);
});
