import { MAX_IDENTITIES } from './advice/advice-ledger.ts';
import { Acknowledgement } from './feedback/acknowledgement.ts';
import { Assessment } from './feedback/assessment.ts';
import { Feedback } from './feedback/feedback.ts';
import { PatternTriggerLedger } from './feedback/trigger-memory.ts';
import { GuidanceDelivered } from './guidance/guidance-delivered.ts';
import { ToolInvoked } from '../session/tool-invoked.ts';
import { FULL_ANALYSIS_RETENTION, type AnalysisRetention } from '../patterns/analysis-retention.ts';

/** How much of its past a run keeps at hand. Counts, patterns, cadence and caps are exact either way. */
export interface Retention {
  /** Most items of a slice, by its name; a slice that is not named keeps what it says itself. */
  readonly slices: Readonly<Record<string, number>>;
  readonly analysis: AnalysisRetention;
  /** Identities of advice that noise control remembers. */
  readonly identities: number;
}

/** What a long-lived process keeps. */
export const FULL_RETENTION: Retention = {
  slices: {},
  analysis: FULL_ANALYSIS_RETENTION,
  identities: MAX_IDENTITIES,
};

/**
 * What a process keeps that loads and saves the state at every event. It says the same as a full one, unless somebody
 * looks farther back than this:
 *
 * - `recentToolCalls` and `errorRate` of a feedback context, and the window of `paceFeedback`: 24 calls
 * - the window of a classifier, and `recentCalls()`: 48 calls
 * - noise control: the last 64 things that were spoken of (a full run knows 256)
 * - `feedback`, `assessment` and `guidance-delivered` read as slices: the last 4; an acknowledgement that names a
 *   provider counts for those that spoke among them
 *
 * Every built-in with its defaults looks at 20 or fewer. Source of the numbers: with them the state of a run of 10,000
 * calls with many patterns is about 64 KB of JSON.
 */
export const COMPACT_RETENTION: Retention = {
  slices: {
    [ToolInvoked.sliceName]: 24,
    [Feedback.sliceName]: 4,
    [Assessment.sliceName]: 4,
    [GuidanceDelivered.sliceName]: 4,
    [Acknowledgement.sliceName]: 16,
    // One entry a stay in a pattern; at most a few stays are open at once, and those that are over are never asked for.
    [PatternTriggerLedger.sliceName]: 32,
  },
  analysis: { recentCalls: 48, recentErrors: 8, closedPatterns: 8 },
  identities: 64,
};
