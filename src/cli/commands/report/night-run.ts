import { DEFAULT_WITHIN_CALLS, type AdviceOutcome } from '../../../run-view/advice-outcome.ts';
import type { TrajectoryPattern } from '../../../records/trajectory-pattern.ts';
import type { LastCheck, RunOutcome, RunVerdict } from '../../../run-view/run-verdict.ts';
import type { RunWork } from './night-work.ts';
import type { TrajectoryRecord } from '../../../records/trajectory-record.ts';
import type { RunReport } from '../../runs/run-report.ts';

/** What came of the advice of a run, or of one provider. Plain JSON. */
export interface AdviceTally {
  readonly pieces: number;
  readonly delivered: number;
  /** Not said on purpose: by an experiment, or because the run only watches. */
  readonly withheld: number;
  /** Should have arrived and did not, or nobody said that it did. */
  readonly undelivered: number;
  /** Of the delivered ones about a pattern: those with at least ten calls after them, and of these, those that left it by then. */
  readonly followed: number;
  readonly cleared: number;
  /** Of the delivered ones about a pattern: those after which the run had fewer calls. */
  readonly endedEarly: number;
  /** Of the delivered ones with a call after them: those after which the agent made the same call again. */
  readonly withNext: number;
  readonly repeated: number;
  /** Of the delivered ones: those that the agent answered. */
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

/** The tally with one more piece. */
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

/** A run as the report lists it. Plain JSON. */
export interface NightRun extends RunWork {
  readonly id: string;
  readonly parentId?: string;
  readonly task?: string;
  /** The folder that it worked in, or the folder of its source; absent where the report is of one store or of named files. */
  readonly project?: string;
  /** The label `person` of the run's end, else whose home folder its source lies in. */
  readonly person?: string;
  /** Its name, else its program. */
  readonly agent?: string;
  readonly modelId?: string;
  /** Unix milliseconds; 0 where no record has a time. */
  readonly startedAtMs: number;
  readonly lastAtMs: number;
  /** Absent while the run is open, or when it was cut off. */
  readonly outcome?: RunOutcome;
  /** Whether it did what it was for, as far as its records say, and why. */
  readonly verdict: RunVerdict;
  readonly calls: number;
  readonly turns: number;
  readonly errors: number;
  /** As the answers of the model say; absent where none does. */
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
  /** Faults of coxswain and of providers, on the run's record. */
  readonly faults: number;
  /** Why the run could not be read to its end. */
  readonly problem?: string;
}

/** A pattern in short. */
export type NightPattern = Pick<
  TrajectoryPattern,
  'kind' | 'level' | 'stuck' | 'flaggedAt' | 'occurrences' | 'clearedAt' | 'tool'
>;

/** Everything that is found in one run. */
export interface FoundRun {
  readonly run: NightRun;
  readonly report: RunReport;
  readonly outcomes: readonly AdviceOutcome[];
  readonly faults: readonly string[];
  readonly moments: readonly Moment[];
  /** How it ended, without messages; absent where it is open. */
  readonly ended?: TrajectoryRecord;
}

/** A place in a run that is worth a look. Plain JSON. */
export interface Moment {
  readonly runId: string;
  /** Index of the call, from 0; absent where it is no call's. */
  readonly call?: number;
  /** Unix milliseconds, where they are known. */
  readonly atMs?: number;
  readonly what: string;
  /** Moments of one type tell the same story. */
  readonly type: string;
  /** 0 to 100. */
  readonly score: number;
}
