import { hashNumber } from '../base/hash.ts';

/** The tables whose rows have a checksum. The table is part of it, so that a row is not valid in another table. */
export type CheckedTable = 'records' | 'runs' | 'snapshots';

/** Two odd constants of the mix; any would do. */
const HIGH_WORD = 0x9e3779b1;
const TWO_TO_32 = 2 ** 32;

/**
 * The checksum of a row: over its table, run, place in the run and text, so that swapped rows fail too. A whole number from 0 to
 * 2⁴⁸ - 1, the same in every database.
 *
 * `hashNumber` instead of `crc32`, because loading `node:zlib` takes 3 to 4 of the 40 ms that a hook process lives
 * (`docs/decisions/0016-checksums.md`). Not a signature: a program that can write the file can write a checksum too.
 *
 * @returns the checksum function of a run; `place` is the `seq` of a record, the `covers_seq` of a snapshot, 0 for a summary
 * Cost: one pass over the text, about 2 µs for 1 KB.
 */
export function rowChecksums(table: CheckedTable, runId: string): (place: number, text: string) => number {
  const seed = hashNumber(`${table} ${runId}`) | 0;
  return (place, text) => hashNumber(text, seed ^ place ^ Math.imul(Math.floor(place / TWO_TO_32), HIGH_WORD));
}
