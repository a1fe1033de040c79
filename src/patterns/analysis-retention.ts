/** How much of a run's past an analysis keeps for reading. Counts and detectors do not depend on it. */
export interface AnalysisRetention {
  /** Calls that `recentCalls()` can return. */
  readonly recentCalls: number;
  /** Failed calls that `recentErrors()` can return. */
  readonly recentErrors: number;
  /** Ended patterns that `patterns()` can return. */
  readonly closedPatterns: number;
}

/**
 * The retention of a long-lived process. The snapshot has less than 64 KiB (`bench/fold.bench.ts`), twice that if each call fails
 * with another long message.
 */
export const FULL_ANALYSIS_RETENTION: AnalysisRetention = {
  recentCalls: 224,
  recentErrors: 64,
  closedPatterns: 200,
};
