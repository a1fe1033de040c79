import { DEFAULT_WITHIN_CALLS, type AdviceOutcome } from '../../../run-view/advice-outcome.ts';
import type { TrajectoryPattern } from '../../../records/trajectory-pattern.ts';
import type { LastCheck, RunOutcome, RunVerdict } from '../../../run-view/run-verdict.ts';
import type { RunWork } from './night-work.ts';
import type { TrajectoryRecord } from '../../../records/trajectory-record.ts';
import type { RunReport } from '../../runs/run-report.ts';

/** The effect of the advice of a run, or of one provider. Plain JSON. */
export interface AdviceTally {
  readonly pieces: number;
  readonly delivered: number;
  /** Held back on purpose: by an experiment, or in shadow mode. */
  readonly withheld: number;
  /** Not delivered, or not confirmed as delivered. */
  readonly undelivered: number;
  /** Delivered, about a pattern, with at least ten calls after it. */
  readonly followed: number;
  /** Of `followed`: the pattern was left within ten calls. */
  readonly cleared: number;
  /** Delivered, about a pattern, with fewer calls after it. */
  readonly endedEarly: number;
  /** Delivered, with a call after it. */
  readonly withNext: number;
  /** Of `withNext`: the agent repeated its call. */
  readonly repeated: number;
  /** Delivered, and answered by the agent. */
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

/** Adds one piece of advice. */
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
  /** The folder it worked in, else that of its source; absent in a report on one store or on named files. */
  readonly project?: string;
  /** The label `person` of the run's end, else the user whose home folder contains its source. */
  readonly person?: string;
  /** The name of the agent, else of its program. */
  readonly agent?: string;
  readonly modelId?: string;
  /** Unix milliseconds; 0 if no record has a time. */
  readonly startedAtMs: number;
  readonly lastAtMs: number;
  /** Absent if the run is open or was cut off. */
  readonly outcome?: RunOutcome;
  readonly verdict: RunVerdict;
  readonly calls: number;
  readonly turns: number;
  readonly errors: number;
  /** As reported by the model; absent if unknown. */
  readonly tokens?: number;
  readonly cacheTokens?: number;
  readonly costUsd?: number;
  /** The last result of each check, the latest last. */
  readonly checks: readonly LastCheck[];
  readonly stuck: boolean;
  readonly patternBasis: RunReport['patternBasis'];
  /** From `warn` up, at most eight. */
  readonly patterns: readonly NightPattern[];
  readonly advice: AdviceTally;
  /** Recorded faults of coxswain and of providers. */
  readonly faults: number;
  /** Why the run could not be read to its end. */
  readonly problem?: string;
}

/** A pattern in short. */
export type NightPattern = Pick<
  TrajectoryPattern,
  'kind' | 'level' | 'stuck' | 'flaggedAt' | 'occurrences' | 'clearedAt' | 'tool'
>;

/** A run, and what a report needs besides it. */
export interface FoundRun {
  readonly run: NightRun;
  readonly report: RunReport;
  readonly outcomes: readonly AdviceOutcome[];
  readonly faults: readonly string[];
  readonly moments: readonly Moment[];
  /** Its last record, without messages; absent if it is open. */
  readonly ended?: TrajectoryRecord;
}

/** A place in a run that is worth a look. Plain JSON. */
export interface Moment {
  readonly runId: string;
  /** Index from 0; absent if it is not at a call. */
  readonly call?: number;
  /** Unix milliseconds, if known. */
  readonly atMs?: number;
  readonly what: string;
  /** A report prefers moments of different types. */
  readonly type: string;
  /** 0 to 100. */
  readonly score: number;
}
