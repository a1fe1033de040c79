import type { RunSummary } from '../../store/run-summary.ts';

/** A run and how many of the runs above it are shown. */
export interface RunBranch {
  readonly run: RunSummary;
  readonly level: number;
}

/**
 * Runs as a tree: each below the one that started it, in the order in which they started; one whose parent is not among them
 * stands where it stood.
 */
export function runTree(runs: readonly RunSummary[]): readonly RunBranch[] {
  const ids = new Set(runs.map(({ runId }) => runId));
  const isBelow = ({ parentRunId, runId }: RunSummary): boolean =>
    parentRunId !== undefined && parentRunId !== runId && ids.has(parentRunId);
  const children = Map.groupBy(runs.filter(isBelow), ({ parentRunId }) => parentRunId);
  const seen = new Set<RunSummary>();
  const branch = (run: RunSummary, level: number): readonly RunBranch[] => {
    if (seen.has(run)) return [];
    seen.add(run);
    const below = (children.get(run.runId) ?? []).toSorted((a, b) => a.startedAtMs - b.startedAtMs);
    return [{ run, level }, ...below.flatMap((child) => branch(child, level + 1))];
  };
  // A record may name runs as each other's parents: none of them is left out.
  return [...runs.filter((run) => !isBelow(run)), ...runs].flatMap((run) => branch(run, 0));
}
