/** How much of a run's past an analysis keeps for reading. What it counts, and what detectors see, is the same either way. */
export interface AnalysisRetention {
  /** Calls that `recentCalls()` can give. */
  readonly recentCalls: number;
  /** Failed calls that `recentErrors()` can give. */
  readonly recentErrors: number;
  /** Patterns that are over and that `patterns()` can give. */
  readonly closedPatterns: number;
}

/**
 * What a long-lived process keeps; as a snapshot less than 64 KiB (`bench/fold.bench.ts`), twice that where call after call fails
 * in long words of its own.
 */
export const FULL_ANALYSIS_RETENTION: AnalysisRetention = {
  recentCalls: 224,
  recentErrors: 64,
  closedPatterns: 200,
};
