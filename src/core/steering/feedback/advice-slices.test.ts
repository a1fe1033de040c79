import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { findLast } from './advice-slices.ts';

test('the same item is found as by the method of lists, in a frozen list too', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ kind: fc.nat(3) })), fc.nat(3), (items, wanted) => {
      const isMeant = ({ kind }: { readonly kind: number }): boolean => kind === wanted;
      expect(findLast(Object.freeze(items), isMeant)).toBe(items.findLast(isMeant));
    }),
  );
});
