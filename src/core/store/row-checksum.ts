import { hashNumber } from '../base/hash.ts';

/** The tables whose rows have a checksum. The checksum includes the table name, so that a row is not valid in another table. */
export type CheckedTable = 'records' | 'runs' | 'snapshots';

/** Two odd constants for mixing. Their values have no special meaning. */
const HIGH_WORD = 0x9e3779b1;
const TWO_TO_32 = 2 ** 32;

/**
 * Computes the checksum of a row from its table, run, position in the run and text. Swapped rows therefore fail too. The
 * checksum is a whole number from 0 to 2⁴⁸ - 1 and is the same in every database.
 *
 * The code uses `hashNumber` instead of `crc32`. Loading `node:zlib` takes 3 to 4 ms, and a hook process runs for 40 ms
 * (`docs/decisions/stores.md`). The checksum is not a signature, because a program that can write the file can also
 * write a checksum.
 *
 * @returns the checksum function of a run; `place` is the `seq` of a record, the `covers_seq` of a snapshot, 0 for a
 *   summary Cost: one pass over the text, about 2 µs for 1 KB.
 */
export function rowChecksums(table: CheckedTable, runId: string): (place: number, text: string) => number {
  const seed = hashNumber(`${table} ${runId}`) | 0;
  return (place, text) => hashNumber(text, seed ^ place ^ Math.imul(Math.floor(place / TWO_TO_32), HIGH_WORD));
}
