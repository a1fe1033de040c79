import { jsonOf, type Json } from '../base/json.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import type { RunSummary } from './run-summary.ts';
import type { StoredRun } from './trajectory-store.ts';

/** A snapshot as a driver keeps it. */
export interface SavedSnapshot {
  /** Last `seq` of the run when it was saved; -1 when nothing was stored. */
  readonly coversSeq: number;
  readonly json: string;
}

/**
 * What a fold gets to see.
 *
 * @param readAfter  gives the records stored after that `seq`; called once at most
 */
export function createStoredRun(
  stored: { readonly summary: RunSummary | undefined; readonly snapshot: SavedSnapshot | undefined },
  readAfter: (seq: number) => readonly TrajectoryRecord[],
): StoredRun {
  const { summary, snapshot } = stored;
  const snapshotSeq = snapshot?.coversSeq ?? -1;
  let missed: readonly TrajectoryRecord[] | undefined;
  let read: { readonly json: Json } | undefined;
  return {
    summary,
    nextSeq: (summary?.lastSeq ?? -1) + 1,
    // A process that has the run in memory needs none.
    get snapshot() {
      return snapshot === undefined ? undefined : (read ??= { json: readSnapshot(snapshot.json) }).json;
    },
    snapshotSeq,
    missed: () => (missed ??= readAfter(snapshotSeq)),
  };
}

/** Null for what is no JSON any more: the run is there all the same. */
function readSnapshot(json: string): Json {
  return jsonOf(json) ?? null;
}
