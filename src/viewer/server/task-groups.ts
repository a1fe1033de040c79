import { present } from '../../base/present.ts';
import type { MatchedRun } from './match-runs.ts';
import type { TaskGroup } from './cohort-shapes.ts';

/** Maximum number of tasks listed. The tasks with the most runs are kept. */
const MAX_TASKS = 500;
/** Maximum number of runs per task, for a comparison. */
const MAX_NAMED = 24;

/** Groups runs by task. Runs without a task are left out. Cost: one pass over the runs. */
export function taskGroups(runs: readonly MatchedRun[]): readonly TaskGroup[] {
  const groups = new Map<string, MatchedRun[]>();
  for (const matched of runs) {
    const { task } = matched.run;
    if (task === undefined) continue;
    const group = groups.get(task);
    if (group === undefined) groups.set(task, [matched]);
    else group.push(matched);
  }
  return [...groups]
    .map(([task, of]) => groupOf(task, of))
    .sort((a, b) => b.runs - a.runs || (a.task < b.task ? -1 : 1))
    .slice(0, MAX_TASKS);
}

function groupOf(task: string, of: readonly MatchedRun[]): TaskGroup {
  const sum = (what: (one: MatchedRun) => number | undefined): number =>
    of.reduce((all, one) => all + (what(one) ?? 0), 0);
  const calls = of.map(({ run }) => run.calls).sort((a, b) => a - b);
  const hasCost = of.some(({ extras }) => extras?.costUsd !== undefined);
  // Successful runs first.
  const named = [...of].sort((a, b) => Number(b.run.success === true) - Number(a.run.success === true));
  return {
    task,
    runs: of.length,
    judged: of.filter(({ run }) => run.success !== undefined).length,
    succeeded: of.filter(({ run }) => run.success === true).length,
    stuck: of.filter(({ extras }) => extras?.stuck === true).length,
    medianCalls: calls[Math.floor(calls.length / 2)] ?? 0,
    wastedCalls: sum(({ extras }) => extras?.wasted?.calls),
    ...present({ costUsd: hasCost ? sum(({ extras }) => extras?.costUsd) : undefined }),
    named: named.slice(0, MAX_NAMED).map(({ listed, run }) => ({ source: listed.source.id, runId: run.runId })),
  };
}
