import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { LruMap } from './lru-map.ts';

test('the entry written longest ago goes first', () => {
  const map = new LruMap<number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  map.set('c', 4);
  expect(map.entries()).toEqual([
    ['a', 3],
    ['c', 4],
  ]);
});

test('it holds what a plain list of the last written entries holds', () => {
  const use = fc.tuple(
    fc.constantFrom('set', 'set', 'set', 'delete', 'clear'),
    fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(use, { maxLength: 60 }), (capacity, uses) => {
      const map = new LruMap<number>(capacity);
      let plain: readonly (readonly [string, number])[] = [];
      for (const [at, [how, key]] of uses.entries()) {
        const others = plain.filter(([other]) => other !== key);
        if (how === 'set') {
          map.set(key, at);
          plain = [...others, [key, at] as const].slice(-capacity);
        } else if (how === 'delete') {
          map.delete(key);
          plain = others;
        } else {
          map.clear();
          plain = [];
        }
      }
      expect(map.entries()).toEqual(plain);
    }),
  );
});
