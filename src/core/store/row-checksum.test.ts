import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { rowChecksums } from './run-check.ts';

const TEXT = JSON.stringify({ seq: 3, text: 'a record of some length, with an é and a 世 in it'.repeat(4) });

test('any changed bit of a text changes its checksum', () => {
  const checksum = rowChecksums('records', 'a');
  const whole = checksum(3, TEXT);
  const bytes = Buffer.from(TEXT);
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(checksum(3, changed.toString())).not.toBe(whole);
  }
});

test('the checksum depends on the table, the run and the place', () => {
  const whole = rowChecksums('records', 'a')(3, TEXT);
  expect(rowChecksums('records', 'a')(3, TEXT)).toBe(whole);
  for (const other of [
    rowChecksums('records', 'a')(4, TEXT),
    rowChecksums('records', 'a')(3 + 2 ** 32, TEXT),
    rowChecksums('records', 'b')(3, TEXT),
    rowChecksums('snapshots', 'a')(3, TEXT),
  ]) {
    expect(other).not.toBe(whole);
  }
});

test('it is a whole number that SQLite, PostgreSQL and JSON preserve', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.integer({ min: -1, max: 2 ** 40 }),
      (id, text, place) => {
        const value = rowChecksums('records', id)(place, text);
        expect(Number.isSafeInteger(value) && value >= 0 && value < 2 ** 48).toBe(true);
        expect(Number(JSON.parse(JSON.stringify(value)))).toBe(value);
      },
    ),
  );
});

test('200,000 places of one text have 200,000 different checksums', () => {
  const checksum = rowChecksums('records', 'a');
  const seen = new Set(Array.from({ length: 200_000 }, (_, seq) => checksum(seq, TEXT)));
  expect(seen.size).toBe(200_000);
});
