import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

test('the order of keys does not matter', () => {
  expect(canonicalJson({ b: 1, a: { d: [1, 2], c: null } })).toBe(canonicalJson({ a: { c: null, d: [1, 2] }, b: 1 }));
});

test('canonical JSON equals the JSON of any value, except for the order of keys', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('different values have different texts', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
      const same = JSON.stringify(sorted(left)) === JSON.stringify(sorted(right));
      expect(canonicalJson(left) === canonicalJson(right)).toBe(same);
    }),
  );
});

test('an object that holds itself twice ends at once', () => {
  const knot: Record<string, unknown> = {};
  knot['left'] = knot;
  knot['right'] = knot;
  expect(canonicalJson(knot)).toBe('{"left":"…","right":"…"}');
});

test('nesting far below any stack ends in an ellipsis', () => {
  let deep: unknown = 1;
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
  expect(canonicalJson(deep)).toMatch(/^\[{64}"…"\]{64}$/);
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value === 0 ? 0 : value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  );
}
