import type { TrajectoryAnalysis } from '../../detect/patterns/trajectory-analysis.ts';

/** A read-only view of the analysis of a run: counters, recent calls, patterns. */
export type TrajectoryView = Omit<TrajectoryAnalysis, 'fold' | 'snapshot'>;
