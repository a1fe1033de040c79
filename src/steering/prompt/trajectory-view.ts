import type { TrajectoryAnalysis } from '../../patterns/trajectory-analysis.ts';

/** Read-only view of the trajectory: counters, recent calls, patterns. */
export type TrajectoryView = Omit<TrajectoryAnalysis, 'fold' | 'snapshot'>;
