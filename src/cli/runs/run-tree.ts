import type { RunSummary } from '../../core/facts/run-summary.ts';

/** A run and its depth in the displayed tree. */
export interface RunBranch {
  readonly run: RunSummary;
  readonly level: number;
}

/**
 * Arranges runs as a tree. Children follow their parent in the order of their start. A run whose parent is not in the list keeps
 * its position.
 */
export function runTree(runs: readonly RunSummary[]): readonly RunBranch[] {
  const ids = new Set(runs.map(({ runId }) => runId));
  const isBelow = ({ parentRunId, runId }: RunSummary): boolean =>
    parentRunId !== undefined && parentRunId !== runId && ids.has(parentRunId);
  const children = Map.groupBy(runs.filter(isBelow), ({ parentRunId }) => parentRunId);
  const visitedRuns = new Set<RunSummary>();
  const branch = (run: RunSummary, level: number): readonly RunBranch[] => {
    if (visitedRuns.has(run)) return [];
    visitedRuns.add(run);
    const below = (children.get(run.runId) ?? []).toSorted((a, b) => a.startedAtMs - b.startedAtMs);
    return [{ run, level }, ...below.flatMap((child) => branch(child, level + 1))];
  };
  // Records may name two runs as parents of each other. Both runs are shown.
  return [...runs.filter((run) => !isBelow(run)), ...runs].flatMap((run) => branch(run, 0));
}
