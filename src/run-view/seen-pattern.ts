import type { TrajectoryPattern } from '../records/trajectory-pattern.ts';

/** A pattern of a run, and the records that tell of it, where there are any. */
export interface SeenPattern {
  readonly pattern: TrajectoryPattern;
  readonly flaggedSeq?: number;
  readonly clearedSeq?: number;
}

/** The patterns of a run, and where they come from. */
export interface RunPatterns {
  /** `recorded`: the run's own steering noticed them. `recomputed`: detectors found them when the run was read. */
  readonly basis: 'recorded' | 'recomputed';
  /** By their first call. Hints only where they are recomputed. */
  readonly patterns: readonly SeenPattern[];
  /** Recorded patterns beyond those that are kept. */
  readonly leftOut: number;
}

/** True when the agent was in it for sure enough to say so. */
export function isFlagged({ level }: Pick<TrajectoryPattern, 'level'>): boolean {
  return level !== 'hint';
}

/** True when one of the patterns says, from `warn` up, that the agent was stuck. */
export function saysStuck(patterns: readonly TrajectoryPattern[]): boolean {
  return patterns.some((pattern) => pattern.stuck && isFlagged(pattern));
}

/** What a flag says: at the call where the pattern was flagged it is new; at a later one it has become more certain. */
export function changeOf({ flaggedAt, evidence }: TrajectoryPattern): 'flagged' | 'raised' {
  const last = evidence.at(-1) ?? 0;
  return flaggedAt !== null && last > flaggedAt ? 'raised' : 'flagged';
}
