import { present } from '../base/present.ts';
import { systemClock } from '../base/clock.ts';
import { type CoxswainError, invalidArgument } from '../base/error.ts';
import { planGc, type GcLimits, type PlannedTree, type SizedRun } from './plan-gc.ts';
import { toStoreError } from './store-error.ts';
import type { TrajectoryStore } from './trajectory-store.ts';

/**
 * What a store may take where nothing else is said: 2 GB. That is about a million records in a SQLite file with its
 * index (1.8 KB each, measured with records of 1.1 KB), or a thousand runs of a thousand records; a twentieth of the
 * smallest disks that machines are rented with (40 GB), and read by `verify` within minutes.
 */
export const DEFAULT_MAX_STORE_BYTES: number = 2_000_000_000;

/** Most runs of one call where nothing else is said: beside other work nobody should wait for more. */
const DEFAULT_MAX_RUNS = 20;

const PAGE_RUNS = 1000;

/** What is collected. Where neither `olderThanMs` nor `maxBytes` is given, `maxBytes` is `DEFAULT_MAX_STORE_BYTES`. */
export interface GcOptions {
  /** Runs go whose last record is so old, by its own time; above 0. */
  readonly olderThanMs?: number;
  /** The oldest runs go until the store takes no more than this, as its `sizeOf` counts; from 0. */
  readonly maxBytes?: number;
  /** Most runs that are deleted by this call, from 1; default 20. A tree of runs goes whole, also where it has more. */
  readonly maxRuns?: number;
  /** Only says what would go. */
  readonly isDryRun?: boolean;
  /** Unix milliseconds; default now. */
  readonly nowMs?: number;
}

/** A run that was deleted, or would be. */
export interface CollectedRun {
  readonly runId: string;
  readonly bytes: number;
  readonly records: number;
  /** Unix milliseconds; 0 where no record had a time. */
  readonly lastAtMs: number;
  readonly reason: 'age' | 'size';
}

/** A run that could not be deleted. The runs above it in its tree stay with it. */
export interface FailedRun {
  readonly runId: string;
  readonly error: CoxswainError;
}

/** What one call of `collectGarbage` did. */
export interface GcReport {
  readonly bytesBefore: number;
  /** Of a dry run, what would be left. */
  readonly bytesAfter: number;
  /** In the order of deletion. */
  readonly collected: readonly CollectedRun[];
  readonly failed: readonly FailedRun[];
  /** Runs that should go and were left to the next call: beyond `maxRuns`, or in a tree that changed meanwhile. */
  readonly left: number;
}

/** What a collection needs of a store. */
export type CollectableStore = Pick<TrajectoryStore, 'listRuns' | 'findRun' | 'sizeOf' | 'deleteRun'>;

/**
 * Deletes runs that are too old or too much, as `planGc` chooses them. May be called at any time beside writers, and by
 * several processes at once; what one call leaves the next one finds.
 *
 * A run that cannot be deleted, such as one that another process holds, is reported, and the others go all the same.
 *
 * @throws CoxswainError `invalid-argument` for an option out of range; as `listRuns` and `sizeOf` of the store
 * Cost: one `sizeOf` when only the size counts and the store is within it; else a listing of all runs, and a lookup and a
 *   `deleteRun` for each run that goes.
 */
export async function collectGarbage(store: CollectableStore, options: GcOptions = {}): Promise<GcReport> {
  const { isDryRun = false, maxRuns = DEFAULT_MAX_RUNS } = options;
  checkOptions(options);
  const bytesBefore = await store.sizeOf();
  const planned = await planFor(store, options, bytesBefore);
  const report = { collected: [] as CollectedRun[], failed: [] as FailedRun[], left: 0 };
  for (const tree of planned) {
    const { length } = report.collected;
    const isFull = length + report.failed.length > 0 && length + tree.runs.length > maxRuns;
    if (isFull || (!isDryRun && (await hasChanged(store, tree)))) report.left += tree.runs.length;
    else if (isDryRun) report.collected.push(...tree.runs.map((run) => toCollected(run, tree)));
    else await deleteTree(store, tree, report);
  }
  const bytesAfter = isDryRun
    ? report.collected.reduce((left, { bytes }) => left - bytes, bytesBefore)
    : await store.sizeOf();
  return { bytesBefore, bytesAfter: Math.max(0, bytesAfter), ...report };
}

async function planFor(
  store: CollectableStore,
  { maxBytes, nowMs = systemClock.nowMs(), olderThanMs }: GcOptions,
  bytes: number,
): Promise<readonly PlannedTree[]> {
  const most = maxBytes ?? (olderThanMs === undefined ? DEFAULT_MAX_STORE_BYTES : undefined);
  if (olderThanMs === undefined && most !== undefined && bytes <= most) return [];
  const limits: GcLimits = {
    nowMs,
    bytes,
    ...present({ olderThanMs, maxBytes: most }),
  };
  return planGc(await allRuns(store), limits);
}

async function allRuns(store: CollectableStore): Promise<readonly SizedRun[]> {
  const runs: SizedRun[] = [];
  let after: string | undefined;
  do {
    const page = await store.listRuns({ limit: PAGE_RUNS, withBytes: true, ...present({ after }) });
    runs.push(...page.runs.map((summary, index) => ({ summary, bytes: page.bytes?.[index] ?? 0 })));
    after = page.next;
  } while (after !== undefined);
  return runs;
}

/** True when somebody wrote to a run of the tree since it was listed. */
async function hasChanged(store: CollectableStore, tree: PlannedTree): Promise<boolean> {
  for (const { summary } of tree.runs) {
    const now = await store.findRun(summary.runId);
    if (now !== undefined && now.lastSeq !== summary.lastSeq) return true;
  }
  return false;
}

async function deleteTree(
  store: CollectableStore,
  tree: PlannedTree,
  { collected, failed }: { readonly collected: CollectedRun[]; readonly failed: FailedRun[] },
): Promise<void> {
  for (const run of tree.runs) {
    const { runId } = run.summary;
    try {
      // Another process may have been faster.
      if (await store.deleteRun(runId)) collected.push(toCollected(run, tree));
    } catch (thrown) {
      failed.push({ runId, error: toStoreError(thrown, `delete run ${JSON.stringify(runId)}`) });
      return;
    }
  }
}

function toCollected({ summary, bytes }: SizedRun, { reason }: PlannedTree): CollectedRun {
  const { runId, records, lastAtMs } = summary;
  return { runId, bytes, records, lastAtMs, reason };
}

function checkOptions({ maxBytes = 0, maxRuns = 1, olderThanMs = 1 }: GcOptions): void {
  if (!(olderThanMs > 0)) throw invalidArgument(`olderThanMs must be a number above 0, got ${olderThanMs}`);
  if (!(maxBytes >= 0)) throw invalidArgument(`maxBytes must be a number from 0, got ${maxBytes}`);
  if (!(maxRuns >= 1)) throw invalidArgument(`maxRuns must be a number from 1, got ${maxRuns}`);
}
