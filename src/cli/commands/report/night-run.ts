import { DEFAULT_WITHIN_CALLS, type AdviceOutcome } from '../../../core/facts/advice-outcome.ts';
import type { TrajectoryPattern } from '../../../core/records/trajectory-pattern.ts';
import type { LastCheck, RunOutcome, RunVerdict } from '../../../core/facts/run-verdict.ts';
import type { RunWork } from './night-work.ts';
import type { TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import type { RunReport } from '../../runs/run-report.ts';

/** The effect of all advice in a run, or of the advice of one provider. Plain JSON. */
export interface AdviceTally {
  readonly pieces: number;
  readonly delivered: number;
  /** Number of pieces withheld on purpose: in an experiment or in shadow mode. */
  readonly withheld: number;
  /** Number of pieces that were not delivered, or whose delivery was not confirmed. */
  readonly undelivered: number;
  /** Number of delivered pieces about a pattern with at least ten calls after delivery. */
  readonly followed: number;
  /** Number of pieces in `followed` whose pattern was cleared within ten calls. */
  readonly cleared: number;
  /** Number of delivered pieces about a pattern with fewer than ten calls after delivery. */
  readonly endedEarly: number;
  /** Number of delivered pieces with a call after delivery. */
  readonly withNext: number;
  /** Number of pieces in `withNext` after which the agent repeated its call. */
  readonly repeated: number;
  /** Number of delivered pieces that the agent acknowledged. */
  readonly acknowledged: number;
}

export const NO_ADVICE: AdviceTally = {
  pieces: 0,
  delivered: 0,
  withheld: 0,
  undelivered: 0,
  followed: 0,
  cleared: 0,
  endedEarly: 0,
  withNext: 0,
  repeated: 0,
  acknowledged: 0,
};

/** Adds one piece of advice to the counts. */
export function tallied(tally: AdviceTally, outcome: AdviceOutcome): AdviceTally {
  const { acknowledged, arm, callsLeft, cleared, nextCall, pattern } = outcome;
  const isDelivered = arm === 'delivered';
  return {
    pieces: tally.pieces + 1,
    delivered: tally.delivered + (isDelivered ? 1 : 0),
    withheld: tally.withheld + (arm === 'withheld' || arm === 'shadowed' ? 1 : 0),
    undelivered: tally.undelivered + (arm === 'undelivered' || arm === 'unsettled' ? 1 : 0),
    followed: tally.followed + (isDelivered && cleared !== null ? 1 : 0),
    cleared: tally.cleared + (isDelivered && cleared === true ? 1 : 0),
    endedEarly: tally.endedEarly + (isDelivered && pattern !== undefined && callsLeft < DEFAULT_WITHIN_CALLS ? 1 : 0),
    withNext: tally.withNext + (isDelivered && nextCall !== 'none' ? 1 : 0),
    repeated: tally.repeated + (isDelivered && nextCall === 'repeated' ? 1 : 0),
    acknowledged: tally.acknowledged + (isDelivered && acknowledged !== undefined ? 1 : 0),
  };
}

/** A run in the report. Plain JSON. */
export interface NightRun extends RunWork {
  readonly id: string;
  readonly parentId?: string;
  readonly task?: string;
  /** The working folder of the run, or the folder of its source. Absent in a report on one store or on named files. */
  readonly project?: string;
  /** The label `person` at the end of the run, or the user whose home folder contains its source. */
  readonly person?: string;
  /** The name of the agent, or of its program. */
  readonly agent?: string;
  readonly modelId?: string;
  /** Start in Unix milliseconds; 0 if no record has a time. */
  readonly startedAtMs: number;
  readonly lastAtMs: number;
  /** Absent if the run is open or its records are incomplete. */
  readonly outcome?: RunOutcome;
  readonly verdict: RunVerdict;
  readonly calls: number;
  readonly turns: number;
  readonly errors: number;
  /** Number of refused calls. Absent if none. */
  readonly refused?: number;
  /** Number of records that gap records replace. Absent if none. */
  readonly lostRecords?: number;
  /** Number of tokens reported by the model; absent if unknown. */
  readonly tokens?: number;
  readonly cacheTokens?: number;
  readonly cacheTokensWithin?: number;
  readonly costUsd?: number;
  /** The last result of each check, the most recent result last. */
  readonly checks: readonly LastCheck[];
  readonly stuck: boolean;
  readonly patternBasis: RunReport['patternBasis'];
  /** Patterns of level `warn` or higher, at most eight. */
  readonly patterns: readonly NightPattern[];
  readonly advice: AdviceTally;
  /** Number of recorded faults of coxswain and its providers. */
  readonly faults: number;
  /** Reason why the run could not be read to its end. */
  readonly problem?: string;
}

export type NightPattern = Pick<
  TrajectoryPattern,
  'kind' | 'level' | 'stuck' | 'flaggedAt' | 'occurrences' | 'clearedAt' | 'tool'
>;

/** A run and the additional data that a report needs. */
export interface FoundRun {
  readonly run: NightRun;
  readonly report: RunReport;
  readonly outcomes: readonly AdviceOutcome[];
  readonly faults: readonly string[];
  readonly moments: readonly Moment[];
  /** The last record of the run, without messages; absent if the run is open. */
  readonly ended?: TrajectoryRecord;
}

/** A position in a run that is worth reviewing. Plain JSON. */
export interface Moment {
  readonly runId: string;
  /** Call index from 0; absent if the moment is not at a call. */
  readonly call?: number;
  /** Time in Unix milliseconds, if known. */
  readonly atMs?: number;
  readonly what: string;
  /** The type of the moment. A report prefers moments of different types. */
  readonly type: string;
  /** From 0 to 100. */
  readonly score: number;
}
