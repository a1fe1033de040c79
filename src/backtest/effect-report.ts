import type { AdviceArm } from '../run-view/advice-outcome.ts';
import type { QuartilesReport, ShareReport } from './backtest-report.ts';

/** Version of the shape of an `EffectReport`. */
export const EFFECT_REPORT_VERSION = 2;

/** Runs that each arm must have before arms are compared: the intervals are approximations that need some twenty. */
export const MIN_RUNS_AN_ARM = 20;

/** Differences for which the number of runs is stated. */
export const STATED_DIFFERENCES: readonly number[] = [0.05, 0.1, 0.2];

/** Whether advice helped, as far as the records can say. Plain JSON, members in this order; equal input, equal bytes. */
export interface EffectReport {
  readonly version: typeof EFFECT_REPORT_VERSION;
  /** The paths as they were given, without passwords. */
  readonly paths: readonly string[];
  /** Calls within which a pattern should be left. */
  readonly within: number;
  /** True where the experiment declared that number beforehand; false where another one was asked for, or none was declared. */
  readonly declared: boolean;
  /** The least difference that matters, a share of 1. */
  readonly worthwhile: number;
  readonly runs: EffectRuns;
  /** `stuck` first, then kinds of patterns by name, then providers that speak of no pattern, then whole runs. */
  readonly experiments: readonly EffectExperiment[];
  /** All pieces of each provider, by what became of them; by name. */
  readonly providers: readonly { readonly provider: string; readonly pieces: Readonly<Record<AdviceArm, number>> }[];
  /** Sentences that a reader must know to read the figures, in a fixed order. */
  readonly notes: readonly string[];
}

/** What was read. */
export interface EffectRuns {
  readonly read: number;
  /** Steered by coxswain. */
  readonly steered: number;
  readonly shadow: number;
  /** In an experiment that draws episodes, and in one that draws runs. */
  readonly drawnByEpisode: number;
  readonly drawnByRun: number;
  /** Runs with advice that are left out because some of their records are lost. */
  readonly leftOutForGap: number;
}

/** What an experiment looks at. It is fixed by what is advised, never chosen by the result. */
export type EffectOutcome =
  /** The episode was left, or the run ended in success, within the calls declared. */
  | 'left-pattern'
  /** The run ended before its deadline. */
  | 'in-time'
  /** The run ended in success. */
  | 'succeeded';

/**
 * One comparison of told and withheld units. A unit is an episode: a stretch in which the agent is stuck, with all patterns that overlap
 * there, or another pattern; of advice without a pattern, a run. Where runs are drawn, a unit is a run with those below it, and of its
 * episodes the first one.
 */
export interface EffectExperiment {
  /** `stuck`, the kind of the pattern advised on first, a provider that speaks of no pattern, or `whole runs`. */
  readonly name: string;
  readonly about: 'all' | 'pattern' | 'provider' | 'run';
  readonly outcome: EffectOutcome;
  /**
   * - `helps`, `harms`: the interval lies above, or below, no difference
   * - `no-difference`: it lies within the least difference that matters
   * - `undecided`: it holds both no difference and one that matters
   * - `too-little-data`: fewer than 20 runs in an arm
   * - `not-drawn`: there is no experiment
   */
  readonly status: 'helps' | 'harms' | 'no-difference' | 'undecided' | 'too-little-data' | 'not-drawn';
  /** Null where arms were not drawn. */
  readonly told: ArmFigures | null;
  readonly withheld: ArmFigures | null;
  /** Share of good outcomes among told units less that among withheld ones; null with too little data. */
  readonly difference: number | null;
  /** 95 % interval that holds however often one looks. */
  readonly low: number | null;
  readonly high: number | null;
  /** 95 % interval of a single look at a number of runs fixed beforehand. */
  readonly onceLow: number | null;
  readonly onceHigh: number | null;
  /**
   * How many more runs like these show a difference of that size with a probability of 80 %. Before an experiment: of one with half
   * of the advice withheld. Null where nothing is known to go by.
   */
  readonly power: readonly { readonly difference: number; readonly moreRuns: number | null }[];
  /** False where the arms are so uneven that something must have lost units of one arm: 1 in 1,000 by chance. */
  readonly balanced: boolean;
  /** Units left out because the run still goes on, or does not say how it ended. */
  readonly unknown: number;
}

/** What followed the first advice on each unit of one arm. */
export interface ArmFigures {
  readonly units: number;
  /** Runs, each with those below it. */
  readonly runs: number;
  /** Units whose advice did reach the agent. */
  readonly reached: number;
  readonly good: ShareReport;
  /** Of those that left their pattern, however late. */
  readonly callsToLeave: Pick<QuartilesReport, 'q1' | 'median' | 'q3'>;
  /** The next call was the very same one, or failed in the same way. */
  readonly repeated: number;
  /** Calls that followed, as many as declared at most, and failures among them. */
  readonly calls: number;
  readonly errors: number;
  /** Cost of the model's answers meanwhile, per unit, over the units whose runs tell it; null where none does. */
  readonly costUsd: number | null;
  readonly costKnown: number;
  /** Ended before so many calls with the pattern not left; they count as not having left it. */
  readonly endedBefore: number;
  /** The agent's answers. */
  readonly accepted: number;
  readonly rejected: number;
  readonly noted: number;
}
