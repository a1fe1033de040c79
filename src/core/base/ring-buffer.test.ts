import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RingBuffer } from './ring-buffer.ts';

test('it holds the last items of any sequence and counts all of them', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.array(fc.integer()), (capacity, items) => {
      const ring = new RingBuffer<number>(capacity);
      for (const item of items) ring.push(item);
      expect(ring.toArray()).toEqual(items.slice(-capacity));
      expect(ring.total).toBe(items.length);
      expect(ring.at(-1)).toBe(items.at(-1));
    }),
  );
});

test('a restored ring goes on as the one it was taken from', () => {
  const ring = new RingBuffer<number>(3);
  for (const item of [1, 2, 3, 4]) ring.push(item);
  const restored = RingBuffer.restore(3, ring.toArray(), ring.total);
  ring.push(5);
  restored.push(5);
  expect(restored.toArray()).toEqual(ring.toArray());
  expect(restored.total).toBe(5);
});

test('a capacity that is no whole number from 1 is refused', () => {
  expect(() => new RingBuffer(0)).toThrow(/whole number from 1/);
});
