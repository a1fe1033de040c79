import type { TrajectoryPattern } from '../records/trajectory-pattern.ts';

/** A pattern of a run, and the `seq` of its records, if any. */
export interface SeenPattern {
  readonly pattern: TrajectoryPattern;
  readonly flaggedSeq?: number;
  readonly clearedSeq?: number;
}

/** The patterns of a run and their origin. */
export interface RunPatterns {
  /** `recorded`: flagged by the run's own steering. `recomputed`: found by detectors when the run was read. */
  readonly basis: 'recorded' | 'recomputed';
  /** By first call. Hints only if recomputed. */
  readonly patterns: readonly SeenPattern[];
  /** Recorded patterns dropped. */
  readonly leftOut: number;
}

/** Returns true from `warn` up. */
export function isFlagged({ level }: Pick<TrajectoryPattern, 'level'>): boolean {
  return level !== 'hint';
}

/** Returns true if a pattern of level `warn` or above says that the agent was stuck. */
export function saysStuck(patterns: readonly TrajectoryPattern[]): boolean {
  return patterns.some((pattern) => pattern.stuck && isFlagged(pattern));
}

/** Distinguishes the first flag of a pattern from a later one, at which its level has risen. */
export function changeOf({ flaggedAt, evidence }: TrajectoryPattern): 'flagged' | 'raised' {
  const last = evidence.at(-1) ?? 0;
  return flaggedAt !== null && last > flaggedAt ? 'raised' : 'flagged';
}
