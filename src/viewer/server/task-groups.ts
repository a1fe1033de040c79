import { present } from '../../core/base/json.ts';
import type { TaskGroup, TasksAnswer, Facets, FoundPlace, RunExtras } from './api-shapes.ts';
import { systemClock } from '../../core/base/clock.ts';
import { hasFailed } from '../../core/facts/run-verdict.ts';
import { StoredNames } from '../../core/facts/task-title.ts';
import { inWords } from '../../core/records/words.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import { extrasAt, groupOf, type RunFilter } from './run-query.ts';
import type { FoundRuns } from './full-text.ts';
import type { ListedSource } from './listed-source.ts';

const MAX_VALUES = 20;

export interface MatchedRun {
  readonly listed: ListedSource;
  readonly run: RunSummary;
  readonly extras: RunExtras | undefined;
  readonly found: FoundPlace | undefined;
}

const FACETS: {
  readonly [Name in Exclude<keyof Facets, 'project'>]: (
    run: RunSummary,
    extras: RunExtras | undefined,
  ) => readonly string[];
} = {
  status: statusesOf,
  model: ({ modelId }) => listOf(modelId),
  agent: ({ agentName, format }) => listOf(agentName ?? format),
  task: (run, extras) => listOf(taskKeyOf({ run, extras })),
  pattern: (_run, extras) => (extras === undefined ? [] : [...extras.patterns, ...(extras.stuck ? ['stuck'] : [])]),
};
// The cast is safe: the names are the keys of this object.
const FACET_NAMES = ['project', ...Object.keys(FACETS)] as readonly (keyof Facets)[];

const UNLABELLED = 'unlabelled';

function hasFlagWithoutLabel(
  { runId }: RunSummary,
  extras: RunExtras | undefined,
  labelled: ReadonlySet<string> | undefined,
): boolean {
  return labelled !== undefined && extras?.patternCalls.some((call) => !labelled.has(`${runId}@${call}`)) === true;
}

/** The task of a run as a value of the filter `task`: the whole text decides, also of a task that the summary cuts. */
function taskKeyOf({ extras, run }: Pick<MatchedRun, 'extras' | 'run'>): string | undefined {
  return run.task === undefined || extras?.longTask === undefined ? run.task : `${run.task} #${extras.longTask.key}`;
}

export interface Matches {
  readonly runs: readonly MatchedRun[];
  readonly facets: Facets;
}

/** Returns the runs that pass every filter. A facet counts the runs that pass all other filters. */
export function matchRuns(
  sources: readonly ListedSource[],
  filter: RunFilter,
  foundBySource: ReadonlyMap<ListedSource, FoundRuns>,
  labelled: ReadonlySet<string> | undefined,
  stored: StoredNames,
): Matches {
  const nowMs = systemClock.nowMs();
  const runs: MatchedRun[] = [];
  const counts = new Map(FACET_NAMES.map((name) => [name, new Map<string, number>()]));
  const valuesOf = (
    name: keyof Facets,
    { extras, listed, run }: Pick<MatchedRun, 'extras' | 'listed' | 'run'>,
  ): readonly string[] => {
    if (name === 'project') return listOf(listed.source.projectOf(run.runId));
    const values = FACETS[name](run, extras);
    return name === 'status' && hasFlagWithoutLabel(run, extras, labelled) ? [...values, UNLABELLED] : values;
  };
  const activeFilters = FACET_NAMES.filter((name) => filter[name] !== undefined);
  for (const listed of sources) {
    const isSessions = listed.source.kind === 'sessions';
    for (const run of listed.source.runs.values()) {
      if (isSessions && stored.idOf(run.runId) !== undefined) continue;
      if (filter.compare === `${listed.source.id}/${run.runId}`) continue;
      const extras = extrasAt(run, listed.overviews.knownExtras(run), nowMs, listed.isKilled(run));
      const found = foundBySource.get(listed)?.places.get(run.runId);
      if (filter.q !== undefined && !matchesWords(filter.q, { run, extras, found })) continue;
      const failedFilters = activeFilters.filter(
        (name) => !passesFilter(name, valuesOf(name, { extras, listed, run }), filter[name] ?? ''),
      );
      if (failedFilters.length > 1) continue;
      for (const name of failedFilters.length === 0 ? FACET_NAMES : failedFilters) {
        const valueCounts = counts.get(name);
        for (const value of valuesOf(name, { extras, listed, run }))
          valueCounts?.set(value, (valueCounts.get(value) ?? 0) + 1);
      }
      if (failedFilters.length === 0) runs.push({ listed, run, extras, found });
    }
  }
  // The cast is safe: every name has an entry.
  const facets = Object.fromEntries(
    [...counts].map(([name, valueCounts]) => [name, topValues(valueCounts)]),
  ) as unknown as Facets;
  return { runs, facets };
}

export function storedNames(sources: readonly ListedSource[]): StoredNames {
  const names = new StoredNames();
  if (sources.every(({ source }) => source.kind !== 'sessions')) return names;
  for (const { source } of sources) {
    if (source.kind === 'sessions') continue;
    for (const run of source.runs.values()) names.add(run);
  }
  return names;
}

export function needsExtras({ pattern, status, task }: RunFilter): boolean {
  const isVerdict = status === 'success' || status === 'failed' || status === UNLABELLED;
  return isVerdict || pattern !== undefined || task !== undefined;
}

function topValues(counts: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  return [...counts].sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1)).slice(0, MAX_VALUES);
}

function passesFilter(name: keyof Facets, values: readonly string[], wantedValue: string): boolean {
  // A run that has not been read has only the beginning of its task.
  if (name === 'task') return values.some((value) => value === wantedValue || value.startsWith(`${wantedValue} #`));
  if (name === 'project') return values.includes(wantedValue);
  const plainWanted = plainName(wantedValue);
  if (name === 'model' || name === 'agent') return values.some((value) => plainName(value).includes(plainWanted));
  if (name === 'pattern' && plainWanted === 'any') return values.length > 0;
  return values.some((value) => {
    if (plainName(value) === plainWanted) return true;
    return name === 'pattern' && plainName(inWords('pattern', value)).includes(plainWanted);
  });
}

/** Returns true if a record, the id or the task contains the words, or if they name a pattern of the run. */
function matchesWords(q: string, { extras, found, run }: Pick<MatchedRun, 'extras' | 'found' | 'run'>): boolean {
  if (found !== undefined) return true;
  const lowerWords = q.toLowerCase();
  if (run.runId.toLowerCase().includes(lowerWords) || (run.task ?? '').toLowerCase().includes(lowerWords)) return true;
  return (
    extras?.patterns.some((kind) => [kind, inWords('pattern', kind)].map(plainName).includes(plainName(q))) === true
  );
}

function statusesOf(run: RunSummary, extras: RunExtras | undefined): readonly string[] {
  const { outcome, problem } = run;
  return [
    groupOf(run, extras, systemClock.nowMs()),
    outcome === undefined ? 'open' : 'ended',
    ...(extras?.verdict === 'worked' ? ['success'] : []),
    ...(hasFailed(extras?.verdict) ? ['failed'] : []),
    ...(problem === undefined ? [] : ['damaged']),
  ];
}

function listOf(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}

/** Normalises a name by removing case and punctuation: `ping_pong`, `Ping pong` and `ping-pong` become equal. */
function plainName(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

const MAX_TASKS = 500;
const MAX_NAMED = 24;

/** Groups runs by task or by pattern, the largest group first. Runs without one are left out. Cost: one pass over the runs. */
export function runGroups(runs: readonly MatchedRun[], by: 'task' | 'pattern'): Pick<TasksAnswer, 'tasks' | 'leftOut'> {
  const keyed = runs.flatMap((matched) => {
    const keys = by === 'pattern' ? (matched.extras?.patterns ?? []) : listOf(taskKeyOf(matched));
    return keys.map((key) => ({ key, matched }));
  });
  const tasks = [...Map.groupBy(keyed, ({ key }) => key)]
    .map(([key, group]) =>
      toTaskGroup(
        key,
        by,
        group.map(({ matched }) => matched),
      ),
    )
    .sort((a, b) => b.runs - a.runs || (a.task < b.task ? -1 : 1));
  return { tasks: tasks.slice(0, MAX_TASKS), leftOut: Math.max(0, tasks.length - MAX_TASKS) };
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
  // The verdict names the outcome of a run in every place, also if the host reported none.
  const hasWorked = ({ extras }: MatchedRun): boolean => extras?.verdict === 'worked';
  const sortedRuns = groupRuns.toSorted((a, b) => Number(hasWorked(b)) - Number(hasWorked(a)));
  return {
    task,
    title: by === 'pattern' ? task : titleOf(groupRuns[0]),
    runs: groupRuns.length,
    judged: groupRuns.filter((matched) => hasWorked(matched) || hasFailed(matched.extras?.verdict)).length,
    succeeded: groupRuns.filter(hasWorked).length,
    stuck: groupRuns.filter(({ extras }) => extras?.stuck === true).length,
    medianCalls: calls[Math.floor(calls.length / 2)] ?? 0,
    wastedCalls: sumOf(({ extras }) => extras?.wasted?.calls),
    ...present({ costUsd: hasCost ? sumOf(({ extras }) => extras?.costUsd) : undefined }),
    named: sortedRuns.slice(0, MAX_NAMED).map(({ listed, run }) => ({ source: listed.source.id, runId: run.runId })),
  };
}
