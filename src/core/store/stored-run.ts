import { jsonOf, type Json } from '../base/json.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import type { RunSummary } from '../facts/run-summary.ts';
import type { StoredRun } from './trajectory-store.ts';

export interface SavedSnapshot {
  /** The last `seq` of the run when the snapshot was saved; -1 without records. */
  readonly coversSeq: number;
  readonly json: string;
}

/** Creates the view of a run for a fold. `readAfter`: returns the records after that `seq`; called at most once. */
export function createStoredRun(
  stored: { readonly summary: RunSummary | undefined; readonly snapshot: SavedSnapshot | undefined },
  readAfter: (seq: number) => readonly TrajectoryRecord[],
): StoredRun {
  const { summary, snapshot } = stored;
  const snapshotSeq = snapshot?.coversSeq ?? -1;
  let missed: readonly TrajectoryRecord[] | undefined;
  let parsed: { readonly json: Json } | undefined;
  return {
    summary,
    nextSeq: (summary?.lastSeq ?? -1) + 1,
    // Parsed on demand, because a process with the run in memory does not read it.
    get snapshot() {
      return snapshot === undefined ? undefined : (parsed ??= { json: jsonOf(snapshot.json) ?? null }).json;
    },
    snapshotSeq,
    missed: (afterSeq = snapshotSeq) => (missed ??= readAfter(Math.max(afterSeq, snapshotSeq))),
  };
}
