import type { TrajectoryAnalysis } from '../../patterns/trajectory-analysis.ts';

/** The trajectory for reading: counters, recent calls, patterns. */
export type TrajectoryView = Omit<TrajectoryAnalysis, 'fold' | 'snapshot'>;
