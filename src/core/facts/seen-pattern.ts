import { countOf } from '../base/number-text.ts';
import { LEVEL_RANK, type TrajectoryPattern } from '../records/trajectory-pattern.ts';

/** A pattern of a run, and the `seq` of its records if there are any. */
export interface SeenPattern {
  readonly pattern: TrajectoryPattern;
  readonly flaggedSeq?: number;
  readonly clearedSeq?: number;
}

export interface RunPatterns {
  /** `recorded`: the run's own steering flagged the patterns. `recomputed`: detectors found them when the run was read. */
  readonly basis: 'recorded' | 'recomputed';
  /** The patterns in the order of their first call. Hints are included only if recomputed. */
  readonly patterns: readonly SeenPattern[];
  /** Number of recorded patterns that were dropped. */
  readonly leftOut: number;
}

export function isFlagged({ level }: Pick<TrajectoryPattern, 'level'>): boolean {
  return level !== 'hint';
}

export function saysStuck(patterns: readonly TrajectoryPattern[]): boolean {
  return patterns.some((pattern) => pattern.stuck && isFlagged(pattern));
}

export function isStuckNow(pattern: Pick<TrajectoryPattern, 'clearedAt' | 'level' | 'stuck'>): boolean {
  return pattern.stuck && isFlagged(pattern) && pattern.clearedAt === undefined;
}

export function seriousness({ level, stuck }: Pick<TrajectoryPattern, 'level' | 'stuck'>): number {
  return (stuck ? 3 : 0) + LEVEL_RANK[level];
}

/**
 * A pattern is recorded when its level rises and when it clears, so the count of an open one is a lower bound. The equal calls after
 * its last record are counted, see `RunView`: they are all of an `identical_call`.
 */
export function timesSeen(
  {
    clearedAt,
    kind,
    occurrences,
  }: Pick<TrajectoryPattern, 'kind' | 'occurrences'> & {
    readonly clearedAt?: number | null | undefined;
  },
  basis: RunPatterns['basis'],
): string {
  const times = countOf(occurrences, 'time');
  const isLeast = basis === 'recorded' && (clearedAt ?? undefined) === undefined && kind !== 'identical_call';
  return isLeast ? `at least ${times}` : times;
}

export function changeOf({ flaggedAt, evidence }: TrajectoryPattern): 'flagged' | 'raised' {
  const last = evidence.at(-1) ?? 0;
  return flaggedAt !== null && last > flaggedAt ? 'raised' : 'flagged';
}
