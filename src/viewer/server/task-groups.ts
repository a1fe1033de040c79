import { present } from '../../core/base/json.ts';
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

/** Groups runs by task or by pattern, the largest figure first. Runs without one are left out. Cost: one pass over the runs. */
export function runGroups(
  runs: readonly MatchedRun[],
  {
    by,
    isAscending,
    sort,
  }: { readonly by: 'task' | 'pattern'; readonly sort: (typeof TASK_SORTS)[number]; readonly isAscending: boolean },
): readonly TaskGroup[] {
  const figureOf = FIGURES[sort];
  const sign = isAscending ? -1 : 1;
  const groups = new Map<string, MatchedRun[]>();
  for (const matched of runs) {
    const task = taskKeyOf(matched);
    const keys = by === 'pattern' ? (matched.extras?.patterns ?? []) : task === undefined ? [] : [task];
    for (const key of keys) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [matched]);
      else group.push(matched);
    }
  }
  return [...groups]
    .map(([key, groupRuns]) => toTaskGroup(key, by, groupRuns))
    .sort((a, b) => sign * (figureOf(b) - figureOf(a)) || (a.task < b.task ? -1 : 1))
    .slice(0, MAX_TASKS);
}

function titleOf(matched: MatchedRun | undefined): string {
  if (matched === undefined) return '';
  const { longTask } = matched.extras ?? {};
  const title = matched.listed.source.titleOf(matched.run);
  return longTask === undefined ? title : `${title} ${longTask.rest}`;
}

function toTaskGroup(task: string, by: 'task' | 'pattern', groupRuns: readonly MatchedRun[]): TaskGroup {
  const sumOf = (valueOf: (matched: MatchedRun) => number | undefined): number =>
    groupRuns.reduce((total, matched) => total + (valueOf(matched) ?? 0), 0);
  const calls = groupRuns.map(({ run }) => run.calls).sort((a, b) => a - b);
  const hasCost = groupRuns.some(({ extras }) => extras?.costUsd !== undefined);
  // Successful runs first.
  const sortedRuns = [...groupRuns].sort((a, b) => Number(b.run.success === true) - Number(a.run.success === true));
  return {
    task,
    title: by === 'pattern' ? task : titleOf(groupRuns[0]),
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
