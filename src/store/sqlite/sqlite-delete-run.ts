import type { SqliteRemovals } from './sqlite-removals.ts';

/** Removed records for which the word index is written anew by one step; at that rate it keeps up with deletions. */
const RECORDS_A_MERGE = 50;

/** What a deletion needs of a store. */
export interface DeleteSetup {
  readonly removals: SqliteRemovals;
  /** Does something within a transaction, in turn with the other writes. */
  readonly write: <Result>(work: () => Result) => Promise<Result>;
  /** True once the store is being closed: what is left then is left to the next deletion. */
  readonly isClosing: () => boolean;
}

/**
 * Deletes a run, and what earlier deletions left: out of sight at once, then its rows, then what the word index holds of
 * it, then the room in the file, a few milliseconds at a time.
 *
 * @returns whether anything of the run was there
 * @throws what `write` throws; the run is gone unless that was the first write
 */
export async function deleteSqliteRun(runId: string, { removals, write, isClosing }: DeleteSetup): Promise<boolean> {
  const hadAny = await write(() => removals.hide(runId));
  let removed = 0;
  while (!isClosing()) {
    const records = await write(() => removals.step());
    if (records === undefined) break;
    removed += records;
  }
  let merges = Math.ceil(removed / RECORDS_A_MERGE);
  while (merges > 0 && !isClosing() && (await write(() => removals.mergeIndex()))) merges -= 1;
  while (!isClosing() && (await write(() => removals.shrink()))) continue;
  return hadAny;
}
