import { present } from '../core/base/json.ts';
import { systemClock } from '../core/base/clock.ts';
import { type CoxswainError, invalidArgument } from '../core/base/error.ts';
import { toStoreError } from '../core/store/store-error.ts';
import type { TrajectoryStore } from '../core/store/trajectory-store.ts';
import type { RunSummary } from '../core/facts/run-summary.ts';
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/** An open run that was active within this time is never deleted. Its agent may be working, or waiting overnight. */
export const OPEN_RUN_PROTECTED_MS: number = 24 * 60 * 60 * 1000;

export interface SizedRun {
  readonly summary: RunSummary;
  readonly bytes: number;
}

export interface GcLimits extends Pick<GcOptions, 'olderThanMs' | 'maxBytes'> {
  readonly nowMs: number;
  readonly bytes: number;
  /** Runs that are kept with their trees; default: none. */
  readonly kept?: ReadonlySet<string>;
}

export interface PlannedTree {
  /** The runs, children before their parents, so that an interrupted deletion leaves no orphans. */
  readonly runs: readonly SizedRun[];
  readonly bytes: number;
  /** Last activity of any run in the tree; 0 if no record had a time. */
  readonly lastAtMs: number;
  readonly reason: 'age' | 'size';
}

/**
 * Oldest last activity first: all trees that are too old, then more until the rest is within `maxBytes`. Never a tree
 * with an open run that was active within `OPEN_RUN_PROTECTED_MS`, or with a damaged run, of which `recover` may save
 * more. A tree without times is never too old, and is the first to be deleted for size.
 */
export function planGc(runs: readonly SizedRun[], limits: GcLimits): readonly PlannedTree[] {
  const { nowMs, olderThanMs = Infinity, maxBytes = Infinity, kept } = limits;
  const isKept = ({ summary }: SizedRun): boolean =>
    kept?.has(summary.runId) === true || summary.problem !== undefined || isActive(summary, nowMs);
  const trees = groupTrees(runs).filter((tree) => !tree.runs.some(isKept));
  const isOld = ({ lastAtMs }: Tree): boolean => lastAtMs > 0 && nowMs - lastAtMs >= olderThanMs;
  let remainingBytes = limits.bytes - sumBytes(trees.filter(isOld));
  const plannedTrees: PlannedTree[] = [];
  for (const tree of trees) {
    if (isOld(tree)) plannedTrees.push({ ...tree, reason: 'age' });
    else if (remainingBytes > maxBytes) {
      remainingBytes -= tree.bytes;
      plannedTrees.push({ ...tree, reason: 'size' });
    }
  }
  return plannedTrees;
}

type Tree = Omit<PlannedTree, 'reason'>;

export function isActive({ outcome, lastAtMs }: RunSummary, nowMs: number): boolean {
  return outcome === undefined && nowMs - lastAtMs < OPEN_RUN_PROTECTED_MS;
}

function groupTrees(runs: readonly SizedRun[]): readonly Tree[] {
  const sortedRuns = runs.toSorted((a, b) => (a.summary.runId < b.summary.runId ? -1 : 1));
  const byId = new Map(sortedRuns.map((run) => [run.summary.runId, run]));
  const findParent = ({ summary }: SizedRun): SizedRun | undefined =>
    summary.parentRunId === undefined ? undefined : byId.get(summary.parentRunId);
  const childrenByParent = Map.groupBy(sortedRuns, findParent);
  const visitedRuns = new Set<SizedRun>();
  const trees: Tree[] = [];
  for (const run of sortedRuns) {
    if (visitedRuns.has(run)) continue;
    const tree = [findRoot(run, findParent)];
    // The list grows during the iteration, so parents come before their children.
    for (const member of tree) {
      visitedRuns.add(member);
      for (const child of childrenByParent.get(member) ?? []) if (child !== tree[0]) tree.push(child);
    }
    const lastAtMs = tree.reduce((latest, { summary }) => Math.max(latest, summary.lastAtMs), 0);
    trees.push({ runs: tree.reverse(), bytes: sumBytes(tree), lastAtMs });
  }
  return trees.sort((a, b) => a.lastAtMs - b.lastAtMs);
}

/** Returns the topmost ancestor. Only broken records have circular parents; for these, one of the parents is returned. */
function findRoot(run: SizedRun, findParent: (run: SizedRun) => SizedRun | undefined): SizedRun {
  const ancestors = new Set([run]);
  let root = run;
  for (let parent = findParent(run); parent !== undefined && !ancestors.has(parent); parent = findParent(parent)) {
    ancestors.add(parent);
    root = parent;
  }
  return root;
}

function sumBytes(items: readonly { readonly bytes: number }[]): number {
  return items.reduce((sum, { bytes }) => sum + bytes, 0);
}

/**
 * Default size limit of a store: 2 GB. That is about a million records in a SQLite file with its index (1.8 KB each,
 * measured with records of 1.1 KB), or a thousand runs of a thousand records. It is a twentieth of the smallest disks of
 * rented machines (40 GB). `verify` reads a store of this size within minutes.
 */
export const DEFAULT_MAX_STORE_BYTES: number = 2_000_000_000;

/** Default maximum number of deleted runs per call. The number is small because a call may run during other work. */
const DEFAULT_MAX_RUNS = 20;

const PAGE_RUNS = 1000;

/** Selects the runs to delete. If neither `olderThanMs` nor `maxBytes` is set, `maxBytes` is `DEFAULT_MAX_STORE_BYTES`. */
export interface GcOptions {
  /** Deletes runs whose last record has at least this age in milliseconds, according to the record's time; above 0. */
  readonly olderThanMs?: number;
  /** Deletes the oldest runs until the store's `sizeOf` is at most this value; from 0. */
  readonly maxBytes?: number;
  /** Maximum number of runs deleted by this call, from 1; default 20. A larger tree of runs is still deleted as a whole. */
  readonly maxRuns?: number;
  /** If true, the call only reports what would be deleted. */
  readonly isDryRun?: boolean;
  /** Unix milliseconds; default now. */
  readonly nowMs?: number;
}

export interface CollectedRun {
  readonly runId: string;
  readonly bytes: number;
  readonly records: number;
  /** Unix milliseconds; 0 if no record had a time. */
  readonly lastAtMs: number;
  readonly reason: 'age' | 'size';
}

/** A run that could not be deleted. Its ancestors are kept too. */
export interface FailedRun {
  readonly runId: string;
  readonly error: CoxswainError;
}

export interface GcReport {
  readonly bytesBefore: number;
  /** The size after the call. In a dry run, the expected size. */
  readonly bytesAfter: number;
  /** The deleted runs in the order of deletion. */
  readonly collected: readonly CollectedRun[];
  readonly failed: readonly FailedRun[];
  /** Number of runs left for the next call: runs beyond `maxRuns`, or in a tree that changed meanwhile. */
  readonly left: number;
}

/** The part of a store that a collection needs. */
export type CollectableStore = Pick<TrajectoryStore, 'listRuns' | 'findRun' | 'sizeOf' | 'deleteRun'>;

/**
 * Deletes runs that are too old or exceed the size limit, as `planGc` chooses. It is safe to call while other processes
 * write or delete runs. The next call continues where this one stops. If a run cannot be deleted, it is reported and the
 * other runs are still deleted.
 *
 * @throws CoxswainError `invalid-argument` for an option out of range; as `listRuns` and `sizeOf` of the store Cost: one
 *   `sizeOf` if only the size counts and is within the limit; otherwise a few listings of all runs, and a lookup and a
 *   `deleteRun` per deleted run.
 */
export async function collectGarbage(store: CollectableStore, options: GcOptions = {}): Promise<GcReport> {
  const { isDryRun = false, maxRuns = DEFAULT_MAX_RUNS } = options;
  checkOptions(options);
  const { nowMs = systemClock.nowMs(), olderThanMs } = options;
  const maxBytes = options.maxBytes ?? (olderThanMs === undefined ? DEFAULT_MAX_STORE_BYTES : Infinity);
  const bytesBefore = await store.sizeOf();
  let bytesAfter = bytesBefore;
  const report = { collected: [] as CollectedRun[], failed: [] as FailedRun[], left: 0 };
  const kept = new Set<string>();
  let isFull = false;
  // The share of a run in the file is an estimate, so its deletion may free less.
  for (let isFirst = olderThanMs !== undefined; isFirst || (bytesAfter > maxBytes && !isFull); isFirst = false) {
    const limits = { nowMs, bytes: bytesAfter, maxBytes, kept, ...present({ olderThanMs }) };
    const trees = planGc(await allRuns(store), limits);
    if (trees.length === 0) break;
    for (const tree of trees) {
      for (const { summary } of tree.runs) kept.add(summary.runId);
      const { length: deletedCount } = report.collected;
      const isTooMany = deletedCount + report.failed.length > 0 && deletedCount + tree.runs.length > maxRuns;
      isFull ||= isTooMany;
      if (isTooMany || (!isDryRun && (await hasChanged(store, tree)))) report.left += tree.runs.length;
      else if (isDryRun) report.collected.push(...tree.runs.map((run) => toCollected(run, tree)));
      else await deleteTree(store, tree, report);
    }
    if (isDryRun) bytesAfter = report.collected.reduce((left, { bytes }) => left - bytes, bytesBefore);
    else bytesAfter = await store.sizeOf();
  }
  return { bytesBefore, bytesAfter: Math.max(0, bytesAfter), ...report };
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

async function hasChanged(store: CollectableStore, tree: PlannedTree): Promise<boolean> {
  for (const { summary } of tree.runs) {
    const currentSummary = await store.findRun(summary.runId);
    if (currentSummary !== undefined && currentSummary.lastSeq !== summary.lastSeq) return true;
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
      // `deleteRun` returns false if another process has deleted the run.
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

/** Creates a folder and its missing parents with mode 0700, and waits until they are on disk. */
export function makeFolderSync(folder: string): void {
  const topmost = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (topmost === undefined) return;
  const parent = dirname(topmost);
  for (let child = folder; child !== parent; child = dirname(child)) syncFolder(dirname(child));
}

/** Waits until the names in a folder are on disk. Windows cannot open folders, and it orders such writes itself. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
