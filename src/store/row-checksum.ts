import { hashNumber } from '../base/hash.ts';

/** The tables whose rows carry a checksum; it is part of the checksum, so that a row of one never passes for one of another. */
export type CheckedTable = 'records' | 'runs' | 'snapshots';

/** Two odd constants of the mix; any would do. */
const HIGH_WORD = 0x9e3779b1;
const TWO_TO_32 = 2 ** 32;

/**
 * The checksum of a row: over its table, its run, its place in the run and its text, so that two rows which changed places
 * fail it too. A whole number from 0 to 2⁴⁸ - 1, the same in every database.
 *
 * `hashNumber` instead of `crc32` of `node:zlib`: a hook is a process that lives for some 40 ms, and loading `node:zlib` takes
 * 3 to 4 ms of them (`docs/decisions/0016-checksums.md` has the figures). Not a signature: whoever writes to the file can write
 * a checksum too.
 *
 * @returns gives the checksum of a row of that run; `place` is `seq` of a record, `covers_seq` of a snapshot, 0 of a summary
 * Cost: one pass over the text, about 2 µs for 1 KB.
 */
export function rowChecksums(table: CheckedTable, runId: string): (place: number, text: string) => number {
  const seed = hashNumber(`${table} ${runId}`) | 0;
  return (place, text) => hashNumber(text, seed ^ place ^ Math.imul(Math.floor(place / TWO_TO_32), HIGH_WORD));
}
