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
const DAY_MS = 86_400_000;
const NO_TOTALS = { runs: 0, costUsd: 0, wastedUsd: 0, tokens: 0, wastedTokens: 0 };
/** Maximum number of calls between the first warning and a stop. */
const MAX_CALLS_TO_STOP = 30;
/** Upper limits of the histogram of first calls: 1 to 2, 3 to 5, … */
const FIRST_CALL_LIMITS = [2, 5, 10, 20, 50, 100, 200, Number.POSITIVE_INFINITY];

/** A run whose records have been read. */
interface ReadRun extends MatchedRun {
  readonly extras: RunExtras;
}

/** A run, and the call at which a pattern was flagged in it. */
interface PatternRun {
  readonly run: ReadRun;
  readonly call: number;
}

interface OutcomeCounts {
  readonly runs: number;
  readonly succeeded: number;
}

/**
 * Computes figures over many runs from the extras of each run. Success rates cover the runs with a known outcome.
 *
 * Cost: a few passes over the runs, and sorting them.
 */
export function cohortOf(runs: readonly MatchedRun[]): Omit<CohortAnswer, 'pending' | 'facets'> {
  const readRuns = runs.filter((run): run is ReadRun => run.extras !== undefined);
  const judgedRuns = readRuns.filter(isJudged);
  const stuckRuns = readRuns.filter(({ extras }) => extras.wasted !== undefined);
  const sum = (figureOf: (run: ReadRun) => number | undefined): number =>
    readRuns.reduce((total, run) => total + (figureOf(run) ?? 0), 0);
  return {
    runs: runs.length,
    seen: readRuns.length,
    models: new Set(runs.flatMap(({ run }) => run.modelId ?? [])).size,
    agents: new Set(runs.flatMap(({ run }) => run.agentName ?? run.format ?? [])).size,
    judged: judgedRuns.length,
    succeeded: judgedRuns.filter(hasSucceeded).length,
    stuck: stuckRuns.length,
    stuckJudged: stuckRuns.filter(isJudged).length,
    stuckSucceeded: stuckRuns.filter(hasSucceeded).length,
    calls: sum(({ run }) => run.calls),
    wastedCalls: sum(({ extras }) => extras.wasted?.calls),
    costUsd: sum(({ extras }) => extras.costUsd),
    costRuns: readRuns.filter(({ extras }) => extras.costUsd !== undefined).length,
    wastedUsd: sum(({ extras }) => extras.wasted?.costUsd),
    tokens: sum(({ extras }) => allTokens(extras)),
    wastedTokens: sum(({ extras }) => allTokens(extras.wasted ?? {})),
    patterns: patternCosts(readRuns, judgedRuns),
    stops: earlyStops(judgedRuns),
    rows: cohortRows(readRuns),
    fates: countAdviceFates(readRuns),
    days: dayTotals(readRuns),
    clusters: failureClusters(stuckRuns),
  };
}

function isJudged({ extras }: ReadRun): boolean {
  return extras.verdict !== 'unknown';
}

function hasSucceeded({ extras }: ReadRun): boolean {
  return extras.verdict === 'worked';
}

/**
 * Compares the outcomes of the runs with a pattern with those of the runs that reached the same call without it. Long runs fail more
 * often in any case, so the average of all runs would be an unfair comparison.
 */
function patternCosts(readRuns: readonly ReadRun[], judgedRuns: readonly ReadRun[]): readonly PatternCost[] {
  const countReaching = createReachCounter(judgedRuns);
  const runsByKind = new Map<string, PatternRun[]>();
  for (const run of readRuns) {
    for (const [index, kind] of run.extras.patterns.entries()) {
      const patternRuns = runsByKind.get(kind) ?? [];
      patternRuns.push({ run, call: run.extras.patternCalls[index] ?? 1 });
      runsByKind.set(kind, patternRuns);
    }
  }
  const callsAfter = ({ call, run }: PatternRun): number => run.run.calls - call;
  const costs = [...runsByKind].map(([kind, unordered]): PatternCost => {
    const patternRuns = unordered.toSorted((a, b) => a.call - b.call);
    const judged = patternRuns.filter(({ run }) => isJudged(run));
    return {
      kind,
      runs: patternRuns.length,
      judged: judged.length,
      succeeded: judged.filter(({ run }) => hasSucceeded(run)).length,
      expected: expectedSuccessRate(judged, countReaching),
      callsAfter: patternRuns.reduce((total, patternRun) => total + Math.max(0, callsAfter(patternRun)), 0),
      begins: FIRST_CALL_LIMITS.map((limit, index) => {
        const previousLimit = FIRST_CALL_LIMITS[index - 1] ?? 0;
        return patternRuns.filter(({ call }) => call > previousLimit && call <= limit).length;
      }),
      examples: unordered
        .toSorted((a, b) => callsAfter(b) - callsAfter(a))
        .slice(0, MAX_EXAMPLES)
        .map(({ call, run }) => ({ runId: run.run.runId, call })),
    };
  });
  return costs.sort((a, b) => missingSuccesses(b) - missingSuccesses(a) || b.callsAfter - a.callsAfter);
}

/**
 * Returns the mean success rate of the runs that reached the same calls without the pattern, or null if there are none.
 *
 * @param patternRuns  runs with the pattern and a known outcome, ordered by call
 */
function expectedSuccessRate(
  patternRuns: readonly PatternRun[],
  countReaching: (call: number) => OutcomeCounts,
): number | null {
  const countReachingWithPattern = createReachCounter(patternRuns.map(({ run }) => run));
  const allWithPattern = countReachingWithPattern(0);
  let [rateSum, compared, flaggedSucceeded] = [0, 0, 0];
  for (const [index, { call, run }] of patternRuns.entries()) {
    if (hasSucceeded(run)) flaggedSucceeded += 1;
    const reaching = countReaching(call);
    const withPattern = countReachingWithPattern(call);
    // Leaves out the runs that had the pattern by this call. Those that ended earlier did not reach the call.
    const flagged = index + 1 - (allWithPattern.runs - withPattern.runs);
    const succeeded = flaggedSucceeded - (allWithPattern.succeeded - withPattern.succeeded);
    if (reaching.runs <= flagged) continue;
    rateSum += (reaching.succeeded - succeeded) / (reaching.runs - flagged);
    compared += 1;
  }
  return compared === 0 ? null : rateSum / compared;
}

/** The number of successes by which the runs with a pattern fall short of the runs without it. */
function missingSuccesses({ expected, judged, succeeded }: PatternCost): number {
  return expected === null ? 0 : expected * judged - succeeded;
}

/** Creates a function that counts the runs with at least `call` calls, and how many of them succeeded. */
function createReachCounter(runs: readonly ReadRun[]): (call: number) => OutcomeCounts {
  const ordered = runs.toSorted((a, b) => a.run.calls - b.run.calls);
  // The number of successes among the first runs, for each number of runs.
  const successes = [0];
  for (const run of ordered) successes.push((successes.at(-1) ?? 0) + (hasSucceeded(run) ? 1 : 0));
  return (call) => {
    let [low, high] = [0, ordered.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ordered[middle]?.run.calls ?? 0) < call) low = middle + 1;
      else high = middle;
    }
    return { runs: ordered.length - low, succeeded: (successes.at(-1) ?? 0) - (successes[low] ?? 0) };
  };
}

/** Counts, for each number of calls after the first warning, the calls that a stop saves and the successes that it loses. */
function earlyStops(judgedRuns: readonly ReadRun[]): readonly EarlyStop[] {
  return Array.from({ length: MAX_CALLS_TO_STOP + 1 }, (_, after) => {
    const callsLeft = ({ extras }: ReadRun): number => (extras.wasted?.calls ?? 0) - after;
    const stoppedRuns = judgedRuns.filter((run) => callsLeft(run) > 0);
    return {
      after,
      stopped: stoppedRuns.length,
      saved: stoppedRuns.reduce((total, run) => total + callsLeft(run), 0),
      lost: stoppedRuns.filter(hasSucceeded).length,
    };
  });
}

/** Returns at most 400 evenly spaced runs, ordered by their first stuck pattern and then by the call of the first warning. */
function cohortRows(readRuns: readonly ReadRun[]): readonly CohortRow[] {
  const step = Math.max(1, readRuns.length / MAX_ROWS);
  const drawn = Array.from(
    { length: Math.min(readRuns.length, MAX_ROWS) },
    (_, index) => readRuns[Math.floor(index * step)],
  );
  // Sorts runs that are not stuck after all pattern names.
  const patternOf = ({ extras }: ReadRun): string => (extras.stuck ? (extras.patterns[0] ?? '') : '~');
  const warningCallOf = ({ extras, run }: ReadRun): number => extras.wasted?.call ?? run.calls;
  return drawn
    .filter((run) => run !== undefined)
    .sort((a, b) => {
      const [left, right] = [patternOf(a), patternOf(b)];
      return left === right ? warningCallOf(a) - warningCallOf(b) : left < right ? -1 : 1;
    })
    .map(({ extras, listed, run }) => ({
      source: listed.source.id,
      runId: run.runId,
      calls: run.calls,
      strip: extras.strip,
      verdict: extras.verdict,
    }));
}

function countAdviceFates(readRuns: readonly ReadRun[]): CohortAnswer['fates'] {
  const countsByArm: Record<string, Partial<Record<NextCall, number>>> = {};
  for (const { extras } of readRuns) {
    for (const [fate, count] of Object.entries(extras.fates)) {
      const [arm = '', next = ''] = fate.split(' ');
      const counts = (countsByArm[arm] ??= {});
      // The cast is safe: `RunOverviewFold` writes the key from both words.
      const nextCall = next as NextCall;
      counts[nextCall] = (counts[nextCall] ?? 0) + count;
    }
  }
  return countsByArm;
}

function dayTotals(readRuns: readonly ReadRun[]): CohortAnswer['days'] {
  const days = new Map<string, typeof NO_TOTALS>();
  for (const { extras, run } of readRuns) {
    if (run.startedAtMs <= 0) continue;
    const day = new Date(run.startedAtMs).toISOString().slice(0, 10);
    const totals = days.get(day) ?? { ...NO_TOTALS };
    totals.runs += 1;
    totals.costUsd += extras.costUsd ?? 0;
    totals.wastedUsd += extras.wasted?.costUsd ?? 0;
    totals.tokens += allTokens(extras) ?? 0;
    totals.wastedTokens += allTokens(extras.wasted ?? {}) ?? 0;
    days.set(day, totals);
  }
  const dayNumbers = [...days.keys()].map((day) => Date.parse(day) / DAY_MS);
  const lastDay = dayNumbers.reduce((last, day) => Math.max(last, day), 0);
  const firstDay = dayNumbers.reduce((first, day) => Math.min(first, day), lastDay);
  const count = days.size === 0 ? 0 : Math.min(MAX_DAYS, lastDay - firstDay + 1);
  return Array.from({ length: count }, (_, index) => {
    const day = new Date((lastDay - count + 1 + index) * DAY_MS).toISOString().slice(0, 10);
    return { day, ...(days.get(day) ?? NO_TOTALS) };
  });
}

/** Groups stuck runs by the pattern, the tool and the error line of the first warning. */
function failureClusters(stuckRuns: readonly ReadRun[]): readonly FailureCluster[] {
  const clusters = new Map<string, { runs: number; calls: number; readonly example: RunMoment }>();
  for (const { extras, run } of stuckRuns) {
    if (extras.wasted === undefined) continue;
    const { call, calls } = extras.wasted;
    const key = warningKey(extras.wasted);
    const cluster = clusters.get(key) ?? { runs: 0, calls: 0, example: { runId: run.runId, call } };
    clusters.set(key, cluster);
    cluster.runs += 1;
    cluster.calls += calls;
  }
  return [...clusters]
    .map(([key, cluster]) => Object.assign({ key }, cluster))
    .sort((a, b) => b.runs - a.runs || b.calls - a.calls)
    .slice(0, MAX_CLUSTERS);
}
