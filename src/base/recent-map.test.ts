import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { RecentMap } from './recent-map.ts';

test('the last entries that were used are there with their last values, and never more than twice as many', () => {
  const uses = fc.record({ key: fc.integer({ min: 0, max: 12 }), value: fc.option(fc.nat(), { nil: undefined }) });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(uses, { maxLength: 60 }), (capacity, steps) => {
      const map = new RecentMap<number>(capacity);
      const written = new Map<number, number>();
      let recent: number[] = [];
      for (const { key, value } of steps) {
        const isThere = recent.slice(0, capacity).includes(key);
        if (value === undefined) {
          const found = map.get(String(key));
          expect(isThere || found !== undefined ? found : written.get(key)).toBe(written.get(key));
          if (found === undefined) continue;
        } else {
          map.set(String(key), value);
          written.set(key, value);
        }
        recent = [key, ...recent.filter((one) => one !== key)];
      }
      const held = [...written.keys()].filter((key) => map.get(String(key)) !== undefined);
      expect(held.length).toBeLessThanOrEqual(2 * capacity);
    }),
  );
});
