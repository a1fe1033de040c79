import type { RunSummary } from '../core/facts/run-summary.ts';

/** An open run that was active within this time is never deleted. Its agent may be working, or waiting overnight. */
export const OPEN_RUN_PROTECTED_MS: number = 24 * 60 * 60 * 1000;

export interface SizedRun {
  readonly summary: RunSummary;
  readonly bytes: number;
}

export interface GcLimits {
  /** Unix milliseconds. */
  readonly nowMs: number;
  /** Deletes trees whose last activity is at least this many milliseconds ago; default: no limit. */
  readonly olderThanMs?: number;
  /** Maximum of `bytes` after the deletion; default: no limit. */
  readonly maxBytes?: number;
  /** Size of the whole store in bytes. */
  readonly bytes: number;
}

/** A root run and its descendants, which are deleted together. */
export interface PlannedTree {
  /** The runs, children before their parents, so that an interrupted deletion leaves no orphans. */
  readonly runs: readonly SizedRun[];
  readonly bytes: number;
  /** Last activity of any run in the tree; 0 if no record had a time. */
  readonly lastAtMs: number;
  readonly reason: 'age' | 'size';
}

/**
 * Chooses the runs to delete. Pure.
 *
 * Trees are chosen by their last activity, oldest first. All trees that are too old are chosen, then more trees until the
 * rest is within `maxBytes`. A tree is never chosen if it has an open run that was active within `OPEN_RUN_PROTECTED_MS`.
 * It is also never chosen if it has a damaged run, because `recover` may save more of that run than is listed. A tree
 * without times is never too old, and is the first to be deleted for size.
 *
 * @param runs  all runs of the store, in any order
 * @returns the trees in order of deletion
 *
 * Cost: a sort of the runs.
 */
export function planGc(runs: readonly SizedRun[], limits: GcLimits): readonly PlannedTree[] {
  const { nowMs, olderThanMs = Infinity, maxBytes = Infinity } = limits;
  const trees = groupTrees(runs).filter((tree) => !tree.runs.some((run) => isProtected(run.summary, nowMs)));
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

function isProtected({ outcome, lastAtMs, problem }: RunSummary, nowMs: number): boolean {
  return problem !== undefined || (outcome === undefined && nowMs - lastAtMs < OPEN_RUN_PROTECTED_MS);
}

/** Returns all trees, the least recently active first. The result does not depend on the order of `runs`. */
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
