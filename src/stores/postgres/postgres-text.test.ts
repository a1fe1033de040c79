import { Buffer } from 'node:buffer';

import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { chunksOf, fromIdText, toIdText, toKindText } from './postgres-run-row.ts';

/** Ids that are mostly of the units that need care. */
const id = fc.string({ unit: fc.constantFrom('\0', '\u0001', '\u0002', 'a', '\uffff', '😀'), maxLength: 8 });

test('an id can be decoded from its stored form, which contains no U+0000', () => {
  fc.assert(
    fc.property(id, (runId) => {
      expect(toIdText(runId)).not.toContain('\0');
      expect(fromIdText(toIdText(runId))).toBe(runId);
    }),
  );
});

test('stored ids have the order of the ids', () => {
  fc.assert(
    fc.property(id, id, (one, other) => {
      expect(compareBytes(toIdText(one), toIdText(other))).toBe(compareBytes(one, other));
    }),
  );
});

test('a kind is stored as text that a column and a list can contain', () => {
  expect(toKindText('tool_ended')).toBe('tool_ended');
  expect(toKindText('a\0b\u001ec\ud800')).toBe('a\ufffdb\ufffdc\ufffd');
});

test('items are split in order into non-empty lists that fit one statement', () => {
  const sizes = [1, 10_000_000, 10_000_000, 20_000_000, 1, 2];
  expect(chunksOf(sizes, (size) => size)).toEqual([[1, 10_000_000], [10_000_000], [20_000_000], [1, 2]]);
  expect(chunksOf([], () => 1)).toEqual([]);
});

function compareBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
