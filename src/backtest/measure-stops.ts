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
    byAfter: STOP_AFTER.map((after, index) => figuresOf(runs, points, { after, index })),
  };
}

function figuresOf(
  runs: readonly StoppableRun[],
  points: readonly (StopPoint | undefined)[],
  { after, index }: { readonly after: number; readonly index: number },
): StopFigures {
  /** Returns the number of calls of the run if it is stopped at `at`. */
  const callsAt = (at: number): number => {
    const { calls = 0 } = runs[at] ?? {};
    const point = points[at];
    return point === undefined ? calls : Math.min(calls, point.call + 1 + after);
  };
  const isStopped = ({ calls }: StoppableRun, at: number): boolean => callsAt(at) < calls;
  const saved = (of: keyof RunUse): SavedReport =>
    ratioOf(
      runs.flatMap((run, at) => {
        const whole = run.use[of];
        if (whole === null) return [];
        const until = isStopped(run, at) ? (points[at]?.used[index]?.[of] ?? whole) : whole;
        return [{ part: Math.max(0, whole - until), whole }];
      }),
    );
  const succeeded = runs.filter(({ positive }) => positive === false);
  return {
    after,
    stoppedRuns: runs.filter(isStopped).length,
    calls: ratioOf(runs.map(({ calls }, at) => ({ part: calls - callsAt(at), whole: calls }))),
    ms: saved('ms'),
    tokens: saved('tokens'),
    costUsd: saved('costUsd'),
    lostSuccesses: shareOf(
      runs.filter((run, at) => run.positive === false && isStopped(run, at)).length,
      succeeded.length,
    ),
  };
}
