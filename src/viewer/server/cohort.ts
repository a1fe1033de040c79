import type { NextCall } from '../../run-view/advice-outcome.ts';
import { allTokens } from '../../run-view/usage-text.ts';
import type { RunExtras } from './api-shapes.ts';
import type { CohortAnswer, CohortRow, EarlyStop, FailureCluster, PatternCost, RunMoment } from './cohort-shapes.ts';
import type { MatchedRun } from './match-runs.ts';
import { warningKey } from './warning-key.ts';

const MAX_EXAMPLES = 2;
const MAX_ROWS = 400;
const MAX_CLUSTERS = 15;
const MAX_DAYS = 120;
/** Maximum number of calls between the first warning and a stop. */
const MAX_STOP = 30;
/** Upper limits of the histogram of first calls: 1 to 2, 3 to 5, … */
const BEGINS = [2, 5, 10, 20, 50, 100, 200, Number.POSITIVE_INFINITY];

interface SeenRun extends MatchedRun {
  readonly extras: RunExtras;
}

/**
 * Computes figures over many runs from the extras of each run. Success rates cover the runs with a known outcome.
 *
 * Cost: a few passes over the runs, and sorting them.
 */
export function cohortOf(runs: readonly MatchedRun[]): Omit<CohortAnswer, 'pending' | 'facets'> {
  const seen = runs.filter((run): run is SeenRun => run.extras !== undefined);
  const judged = seen.filter(({ extras }) => extras.verdict !== 'unknown');
  const stuck = seen.filter(({ extras }) => extras.wasted !== undefined);
  const sum = (of: (run: SeenRun) => number | undefined): number => seen.reduce((all, run) => all + (of(run) ?? 0), 0);
  return {
    runs: runs.length,
    seen: seen.length,
    models: new Set(runs.flatMap(({ run }) => run.modelId ?? [])).size,
    agents: new Set(runs.flatMap(({ run }) => run.agentName ?? run.format ?? [])).size,
    judged: judged.length,
    succeeded: judged.filter(isGood).length,
    stuck: stuck.length,
    stuckJudged: stuck.filter(({ extras }) => extras.verdict !== 'unknown').length,
    stuckSucceeded: stuck.filter(isGood).length,
    calls: sum(({ run }) => run.calls),
    wastedCalls: sum(({ extras }) => extras.wasted?.calls),
    costUsd: sum(({ extras }) => extras.costUsd),
    costRuns: seen.filter(({ extras }) => extras.costUsd !== undefined).length,
    wastedUsd: sum(({ extras }) => extras.wasted?.costUsd),
    tokens: sum(({ extras }) => allTokens(extras)),
    wastedTokens: sum(({ extras }) => allTokens(extras.wasted ?? {})),
    patterns: patternCosts(seen, judged),
    stops: stopPoints(judged),
    rows: rowsOf(seen),
    fates: fatesOf(seen),
    days: daysOf(seen),
    clusters: clustersOf(stuck),
  };
}

function isGood({ extras }: SeenRun): boolean {
  return extras.verdict === 'worked';
}

/**
 * Compares the outcomes of the runs with a pattern with those of the runs that reached the same call without it. Long runs fail more
 * often in any case, so the average of all runs would be an unfair comparison.
 */
function patternCosts(seen: readonly SeenRun[], judged: readonly SeenRun[]): readonly PatternCost[] {
  const reached = countsFrom(judged);
  const byKind = new Map<string, { readonly run: SeenRun; readonly call: number }[]>();
  for (const run of seen) {
    for (const [at, kind] of run.extras.patterns.entries()) {
      const those = byKind.get(kind) ?? [];
      those.push({ run, call: run.extras.patternCalls[at] ?? 1 });
      byKind.set(kind, those);
    }
  }
  const costs = [...byKind].map(([kind, those]): PatternCost => {
    const ordered = those.toSorted((a, b) => a.call - b.call);
    const known = ordered.filter(({ run }) => run.extras.verdict !== 'unknown');
    const allGood = known.filter(({ run }) => isGood(run)).length;
    let expected = 0;
    let compared = 0;
    let goodBefore = 0;
    const endedBefore = countsFrom(known.map(({ run }) => run));
    for (const [at, { call, run }] of known.entries()) {
      if (isGood(run)) goodBefore += 1;
      const [all, good] = reached(call);
      // Excludes the runs that reached this call and had the pattern by then.
      const [stillHere, stillGood] = endedBefore(call);
      const rest = all - (at + 1 - (known.length - stillHere));
      if (rest <= 0) continue;
      const goodEnded = allGood - stillGood;
      expected += (good - (goodBefore - goodEnded)) / rest;
      compared += 1;
    }
    return {
      kind,
      runs: those.length,
      judged: known.length,
      succeeded: allGood,
      expected: compared === 0 ? null : expected / compared,
      callsAfter: those.reduce((all, { call, run }) => all + Math.max(0, run.run.calls - call), 0),
      begins: BEGINS.map((end, at) => ordered.filter(({ call }) => call <= end && call > (BEGINS[at - 1] ?? 0)).length),
      examples: those
        .toSorted((a, b) => b.run.run.calls - b.call - (a.run.run.calls - a.call))
        .slice(0, MAX_EXAMPLES)
        .map(({ call, run }) => ({ runId: run.run.runId, call })),
    };
  });
  return costs.sort((a, b) => missingSuccesses(b) - missingSuccesses(a) || b.callsAfter - a.callsAfter);
}

/** The number of successes by which the runs with a pattern fall short of the runs without it. */
function missingSuccesses({ expected, judged, succeeded }: PatternCost): number {
  return expected === null ? 0 : expected * judged - succeeded;
}

/** Counts the runs with at least `call` calls, and how many of them succeeded. */
function countsFrom(judged: readonly SeenRun[]): (call: number) => readonly [number, number] {
  const ordered = judged.toSorted((a, b) => a.run.calls - b.run.calls);
  const good = [0];
  for (const run of ordered) good.push((good.at(-1) ?? 0) + (isGood(run) ? 1 : 0));
  return (call) => {
    let [low, high] = [0, ordered.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ordered[middle]?.run.calls ?? 0) < call) low = middle + 1;
      else high = middle;
    }
    return [ordered.length - low, (good.at(-1) ?? 0) - (good[low] ?? 0)];
  };
}

function stopPoints(judged: readonly SeenRun[]): readonly EarlyStop[] {
  const points: EarlyStop[] = [];
  for (let after = 0; after <= MAX_STOP; after += 1) {
    let [saved, lost, stopped] = [0, 0, 0];
    for (const run of judged) {
      const left = (run.extras.wasted?.calls ?? 0) - after;
      if (left <= 0) continue;
      stopped += 1;
      saved += left;
      if (isGood(run)) lost += 1;
    }
    points.push({ after, stopped, saved, lost });
  }
  return points;
}

function rowsOf(seen: readonly SeenRun[]): readonly CohortRow[] {
  const step = Math.max(1, seen.length / MAX_ROWS);
  const drawn = Array.from({ length: Math.min(seen.length, MAX_ROWS) }, (_, at) => seen[Math.floor(at * step)]).filter(
    (run) => run !== undefined,
  );
  const order = ({ extras }: SeenRun): string => (extras.stuck ? (extras.patterns[0] ?? '') : '~');
  return drawn
    .sort((a, b) => {
      const [x, y] = [order(a), order(b)];
      return x < y ? -1 : x > y ? 1 : (a.extras.wasted?.call ?? a.run.calls) - (b.extras.wasted?.call ?? b.run.calls);
    })
    .map(({ extras, listed, run }) => ({
      source: listed.source.id,
      runId: run.runId,
      calls: run.calls,
      strip: extras.strip,
      verdict: extras.verdict,
    }));
}

function fatesOf(seen: readonly SeenRun[]): CohortAnswer['fates'] {
  const arms: Record<string, Partial<Record<NextCall, number>>> = {};
  for (const { extras } of seen) {
    for (const [fate, count] of Object.entries(extras.fates)) {
      const [arm = '', next = ''] = fate.split(' ');
      const of = (arms[arm] ??= {});
      // The cast is safe: `RunLook` writes the key from both words.
      const call = next as NextCall;
      of[call] = (of[call] ?? 0) + count;
    }
  }
  return arms;
}

function daysOf(seen: readonly SeenRun[]): CohortAnswer['days'] {
  const days = new Map<
    string,
    { runs: number; costUsd: number; wastedUsd: number; tokens: number; wastedTokens: number }
  >();
  for (const { extras, run } of seen) {
    if (run.startedAtMs <= 0) continue;
    const day = new Date(run.startedAtMs).toISOString().slice(0, 10);
    const of = days.get(day) ?? { runs: 0, costUsd: 0, wastedUsd: 0, tokens: 0, wastedTokens: 0 };
    of.runs += 1;
    of.costUsd += extras.costUsd ?? 0;
    of.wastedUsd += extras.wasted?.costUsd ?? 0;
    of.tokens += allTokens(extras) ?? 0;
    of.wastedTokens += allTokens(extras.wasted ?? {}) ?? 0;
    days.set(day, of);
  }
  return [...days]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(-MAX_DAYS)
    .map(([day, of]) => Object.assign({ day }, of));
}

/** Groups stuck runs by the pattern, the tool and the error line of the first warning. */
function clustersOf(stuck: readonly SeenRun[]): readonly FailureCluster[] {
  const clusters = new Map<string, { runs: number; calls: number; readonly example: RunMoment }>();
  for (const { extras, run } of stuck) {
    if (extras.wasted === undefined) continue;
    const { call, calls } = extras.wasted;
    const key = warningKey(extras.wasted);
    const known = clusters.get(key) ?? { runs: 0, calls: 0, example: { runId: run.runId, call } };
    clusters.set(key, known);
    known.runs += 1;
    known.calls += calls;
  }
  return [...clusters]
    .map(([key, cluster]) => Object.assign({ key }, cluster))
    .sort((a, b) => b.runs - a.runs || b.calls - a.calls)
    .slice(0, MAX_CLUSTERS);
}
