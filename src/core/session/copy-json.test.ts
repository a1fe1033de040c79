import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { copyJson } from './copy-json.ts';

const copy = (value: unknown): unknown => copyJson(value, 'root', 'invalid-argument');

test('a copy equals its original and shares nothing with it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const before = JSON.stringify(value);
      const copied = copy(value);
      expect(copied).toEqual(JSON.parse(before));
      expect(JSON.stringify(copied)).toBe(before);
      expect(copied === value).toBe(typeof value !== 'object' || value === null);
    }),
  );
});

class Point {
  readonly x = 1;
}
const cycle: Record<string, unknown> = {};
cycle['self'] = cycle;
cycle['again'] = cycle;
const hole: number[] = [];
hole[1] = 1;

test.each([
  ['a function', { a: [() => 1] }, 'root.a[0]'],
  ['an undefined member', { a: { b: undefined } }, 'root.a.b'],
  ['a Date', { a: new Date(0) }, 'root.a'],
  ['a Map', { a: 1, b: new Map() }, 'root.b'],
  ['a class instance', new Point(), 'root'],
  ['NaN', [0, Number.NaN], 'root[1]'],
  ['Infinity', [Number.POSITIVE_INFINITY], 'root[0]'],
  ['a bigint', [1n], 'root[0]'],
  ['a symbol', [Symbol('s')], 'root[0]'],
  ['a hole', hole, 'root[0]'],
])('%s is refused with its path', (_what, value, path) => {
  expect(() => copy(value)).toThrowError(
    expect.objectContaining({ code: 'invalid-argument', details: expect.objectContaining({ path }) }),
  );
});

test('a cycle is refused quickly, also where it branches', () => {
  expect(() => copy(cycle)).toThrowError(/deeper than 64 levels, or a cycle/);
});

test('a key named __proto__ stays data', () => {
  const value: unknown = JSON.parse('{"__proto__":{"polluted":true}}');
  const copied = copy(value);
  expect(JSON.stringify(copied)).toBe('{"__proto__":{"polluted":true}}');
  expect(Reflect.get(Object(copied), 'polluted')).toBeUndefined();
});
