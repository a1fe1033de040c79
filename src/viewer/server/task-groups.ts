import { present } from '../../core/base/present.ts';
import { taskKeyOf, type MatchedRun } from './match-runs.ts';
import type { TaskGroup } from './api-shapes.ts';

/** Maximum number of tasks listed. */
const MAX_TASKS = 500;
/** Maximum number of runs per task, for a comparison. */
const MAX_NAMED = 24;

/** The figures by which tasks are sorted. */
export const TASK_SORTS = ['runs', 'calls', 'wasted', 'cost'] as const;
const FIGURES = {
  runs: ({ runs }) => runs,
  calls: ({ medianCalls }) => medianCalls,
  wasted: ({ wastedCalls }) => wastedCalls,
  cost: ({ costUsd }) => costUsd ?? -1,
} satisfies Record<(typeof TASK_SORTS)[number], (group: TaskGroup) => number>;

/** Groups runs by task, the largest figure first. Runs without a task are left out. Cost: one pass over the runs. */
export function taskGroups(
  runs: readonly MatchedRun[],
  sort: (typeof TASK_SORTS)[number],
  isAscending: boolean,
): readonly TaskGroup[] {
  const figureOf = FIGURES[sort];
  const sign = isAscending ? -1 : 1;
  const groups = new Map<string, MatchedRun[]>();
  for (const matched of runs) {
    const task = taskKeyOf(matched);
    if (task === undefined) continue;
    const group = groups.get(task);
    if (group === undefined) groups.set(task, [matched]);
    else group.push(matched);
  }
  return [...groups]
    .map(([task, groupRuns]) => toTaskGroup(task, groupRuns))
    .sort((a, b) => sign * (figureOf(b) - figureOf(a)) || (a.task < b.task ? -1 : 1))
    .slice(0, MAX_TASKS);
}

function titleOf(matched: MatchedRun | undefined): string | undefined {
  if (matched === undefined) return undefined;
  const title = matched.listed.source.titleOf(matched.run);
  const { longTask } = matched.extras ?? {};
  return longTask === undefined ? title : `${title}${longTask.rest}`;
}

function toTaskGroup(task: string, groupRuns: readonly MatchedRun[]): TaskGroup {
  const sumOf = (valueOf: (matched: MatchedRun) => number | undefined): number =>
    groupRuns.reduce((total, matched) => total + (valueOf(matched) ?? 0), 0);
  const calls = groupRuns.map(({ run }) => run.calls).sort((a, b) => a - b);
  const hasCost = groupRuns.some(({ extras }) => extras?.costUsd !== undefined);
  // Successful runs first.
  const sortedRuns = [...groupRuns].sort((a, b) => Number(b.run.success === true) - Number(a.run.success === true));
  return {
    task,
    title: titleOf(sortedRuns[0]) ?? task,
    runs: groupRuns.length,
    judged: groupRuns.filter(({ run }) => run.success !== undefined).length,
    succeeded: groupRuns.filter(({ run }) => run.success === true).length,
    stuck: groupRuns.filter(({ extras }) => extras?.stuck === true).length,
    medianCalls: calls[Math.floor(calls.length / 2)] ?? 0,
    wastedCalls: sumOf(({ extras }) => extras?.wasted?.calls),
    ...present({ costUsd: hasCost ? sumOf(({ extras }) => extras?.costUsd) : undefined }),
    named: sortedRuns.slice(0, MAX_NAMED).map(({ listed, run }) => ({ source: listed.source.id, runId: run.runId })),
  };
}
