/** Limits on the history that an analysis keeps. Counts and detectors do not depend on these limits. */
export interface AnalysisRetention {
  /** Maximum number of calls that `recentCalls()` returns. */
  readonly recentCalls: number;
  /** Maximum number of failed calls that `recentErrors()` returns. */
  readonly recentErrors: number;
  /** Maximum number of closed patterns that `patterns()` returns. */
  readonly closedPatterns: number;
}

/**
 * The limits for a long-lived process. The snapshot is smaller than 64 KiB (measured by `bench/fold.bench.ts`). It is up to twice
 * as large if every call fails with a different long message.
 */
export const FULL_ANALYSIS_RETENTION: AnalysisRetention = {
  recentCalls: 224,
  recentErrors: 64,
  closedPatterns: 200,
};
