import type { SavedReport, StopEarlyReport, StopFigures, StopPolicyReport } from './backtest-report.ts';
import { ratioOf, shareOf } from './statistics.ts';
import { STOP_AFTER, type RunUse, type StopPoint } from './stop-points.ts';

/** A run that an early stop could have ended. */
export interface StoppableRun {
  readonly calls: number;
  /** Duration, tokens and cost of the whole run. */
  readonly use: RunUse;
  /** True if the run failed, false if it succeeded, null if unknown. */
  readonly positive: boolean | null;
  readonly stops: readonly StopPoint[];
}

/**
 * Computes the savings of stopping each run some calls after its first stuck warning. It also counts the successful runs that this stop
 * would end. The figures are exact, because a stopped run equals the recorded one until the stop.
 *
 * Cost: O(runs × kinds).
 */
export function measureStops(runs: readonly StoppableRun[]): StopEarlyReport {
  const names = new Map<string, Pick<StopPolicyReport, 'kind' | 'level'>>();
  for (const { stops } of runs) for (const { kind, level } of stops) names.set(`${kind} ${level}`, { kind, level });
  const policies = [...names.values()].map((policy) => policyReport(runs, policy));
  return { after: STOP_AFTER, policies: policies.sort(inOrder) };
}

/** Orders the policy for any kind first, then by number of warned runs, then by name. */
function inOrder(one: StopPolicyReport, other: StopPolicyReport): number {
  if ((one.kind === null) !== (other.kind === null)) return one.kind === null ? -1 : 1;
  const names = [`${one.kind} ${one.level}`, `${other.kind} ${other.level}`];
  return other.warnedRuns - one.warnedRuns || ((names[0] ?? '') < (names[1] ?? '') ? -1 : 1);
}

function policyReport(
  runs: readonly StoppableRun[],
  { kind, level }: Pick<StopPolicyReport, 'kind' | 'level'>,
): StopPolicyReport {
  const points = runs.map(({ stops }) => stops.find((point) => point.kind === kind && point.level === level));
  return {
    kind,
    level,
    warnedRuns: points.filter((point) => point !== undefined).length,
    byAfter: STOP_AFTER.map((calls, index) => figuresOf(runs, points, { after: calls, index })),
  };
}

function figuresOf(
  runs: readonly StoppableRun[],
  points: readonly (StopPoint | undefined)[],
  { after, index }: { readonly after: number; readonly index: number },
): StopFigures {
  /** Returns the number of calls of the run if it is stopped at its stop point. */
  const callsAt = (runIndex: number): number => {
    const { calls = 0 } = runs[runIndex] ?? {};
    const point = points[runIndex];
    return point === undefined ? calls : Math.min(calls, point.call + 1 + after);
  };
  const isStopped = ({ calls }: StoppableRun, runIndex: number): boolean => callsAt(runIndex) < calls;
  const savedReport = (figure: keyof RunUse): SavedReport =>
    ratioOf(
      runs.flatMap((run, runIndex) => {
        const whole = run.use[figure];
        if (whole === null) return [];
        const usedUntilStop = isStopped(run, runIndex) ? (points[runIndex]?.used[index]?.[figure] ?? whole) : whole;
        return [{ part: Math.max(0, whole - usedUntilStop), whole }];
      }),
    );
  const successfulRuns = runs.filter(({ positive }) => positive === false);
  return {
    after,
    stoppedRuns: runs.filter(isStopped).length,
    calls: ratioOf(runs.map(({ calls }, runIndex) => ({ part: calls - callsAt(runIndex), whole: calls }))),
    ms: savedReport('ms'),
    tokens: savedReport('tokens'),
    costUsd: savedReport('costUsd'),
    lostSuccesses: shareOf(
      runs.filter((run, runIndex) => run.positive === false && isStopped(run, runIndex)).length,
      successfulRuns.length,
    ),
  };
}
