import type { RunSummary } from './run-summary.ts';

/**
 * A run that has no end and was active within this time is never collected: 24 hours. Its agent may be at work, or wait
 * for somebody over night.
 */
export const OPEN_RUN_KEPT_MS: number = 24 * 60 * 60 * 1000;

/** A run that a store lists, with what it takes. */
export interface SizedRun {
  readonly summary: RunSummary;
  readonly bytes: number;
}

/** What may stay. Without `olderThanMs` no run is too old, without `maxBytes` none is too much. */
export interface GcLimits {
  /** Unix milliseconds. */
  readonly nowMs: number;
  /** A tree whose last activity is so long ago, or longer, goes. */
  readonly olderThanMs?: number;
  /** What may be left of `bytes`. */
  readonly maxBytes?: number;
  /** What the whole store takes, runs or not. */
  readonly bytes: number;
}

/** A run with all that hang together with it as parents and children: it goes or stays as one. */
export interface PlannedTree {
  /** Children before their parents, so that what ends in the middle leaves no child without its parent. */
  readonly runs: readonly SizedRun[];
  readonly bytes: number;
  /** Of the run among them that was active last; 0 where no record had a time. */
  readonly lastAtMs: number;
  readonly reason: 'age' | 'size';
}

/**
 * Chooses which runs of a store go. Pure.
 *
 * Trees go in the order of their last activity, the oldest first: those that are too old, then as many more as it takes
 * until what is left is within `maxBytes`. Never a tree with a run that is open and was active within
 * `OPEN_RUN_KEPT_MS`, and never one with a run that is damaged: more may be saved of it than is listed. A tree whose
 * records have no time is never too old, and is the first to go for size.
 *
 * @param runs  all that the store lists, in any order
 * @returns what goes, in the order in which to delete it
 * Cost: a sort of the runs.
 */
export function planGc(runs: readonly SizedRun[], limits: GcLimits): readonly PlannedTree[] {
  const { nowMs, olderThanMs = Infinity, maxBytes = Infinity } = limits;
  const trees = treesOf(runs).filter((tree) => !tree.runs.some((run) => isKept(run.summary, nowMs)));
  const isOld = ({ lastAtMs }: Tree): boolean => lastAtMs > 0 && nowMs - lastAtMs >= olderThanMs;
  let left = limits.bytes - sumOf(trees.filter(isOld));
  const planned: PlannedTree[] = [];
  for (const tree of trees) {
    if (isOld(tree)) planned.push({ ...tree, reason: 'age' });
    else if (left > maxBytes) {
      left -= tree.bytes;
      planned.push({ ...tree, reason: 'size' });
    }
  }
  return planned;
}

type Tree = Omit<PlannedTree, 'reason'>;

function isKept({ outcome, lastAtMs, problem }: RunSummary, nowMs: number): boolean {
  return problem !== undefined || (outcome === undefined && nowMs - lastAtMs < OPEN_RUN_KEPT_MS);
}

/** All trees, the one that was active longest ago first; the same for every order of the runs. */
function treesOf(runs: readonly SizedRun[]): readonly Tree[] {
  const sorted = runs.toSorted((left, right) => (left.summary.runId < right.summary.runId ? -1 : 1));
  const byId = new Map(sorted.map((run) => [run.summary.runId, run]));
  const parentOf = ({ summary }: SizedRun): SizedRun | undefined =>
    summary.parentRunId === undefined ? undefined : byId.get(summary.parentRunId);
  const childrenOf = Map.groupBy(sorted, parentOf);
  const seen = new Set<SizedRun>();
  const trees: Tree[] = [];
  for (const run of sorted) {
    if (seen.has(run)) continue;
    const found = [rootOf(run, parentOf)];
    // The list grows while it is gone through: parents come before their children.
    for (const one of found) {
      seen.add(one);
      for (const child of childrenOf.get(one) ?? []) if (child !== found[0]) found.push(child);
    }
    const lastAtMs = found.reduce((latest, { summary }) => Math.max(latest, summary.lastAtMs), 0);
    trees.push({ runs: found.reverse(), bytes: sumOf(found), lastAtMs });
  }
  return trees.sort((left, right) => left.lastAtMs - right.lastAtMs);
}

/** The run above all; of runs that are each other's parents, which only a broken record can say, one of them. */
function rootOf(run: SizedRun, parentOf: (run: SizedRun) => SizedRun | undefined): SizedRun {
  const above = new Set([run]);
  let root = run;
  for (let parent = parentOf(run); parent !== undefined && !above.has(parent); parent = parentOf(parent)) {
    above.add(parent);
    root = parent;
  }
  return root;
}

function sumOf(items: readonly { readonly bytes: number }[]): number {
  return items.reduce((sum, { bytes }) => sum + bytes, 0);
}
