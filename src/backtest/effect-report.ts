import type { AdviceArm } from '../run-view/advice-outcome.ts';
import type { QuartilesReport, ShareReport } from './backtest-report.ts';

/** Version of the shape of an `EffectReport`. */
export const EFFECT_REPORT_VERSION = 2;

/** Fewest runs per arm for a comparison: the intervals are approximations that need about twenty. */
export const MIN_RUNS_AN_ARM = 20;

/** Differences for which the report states the number of runs. */
export const STATED_DIFFERENCES: readonly number[] = [0.05, 0.1, 0.2];

/** Whether advice helped, according to the records. Plain JSON with members in this order; equal input gives equal bytes. */
export interface EffectReport {
  readonly version: typeof EFFECT_REPORT_VERSION;
  /** The paths as named, without passwords. */
  readonly paths: readonly string[];
  /** Calls within which a pattern should clear. */
  readonly within: number;
  /** True if the experiment declared that number beforehand. */
  readonly declared: boolean;
  /** The smallest difference that matters, a share of 1. */
  readonly worthwhile: number;
  readonly runs: EffectRuns;
  /** `stuck` first, then pattern kinds by name, then providers without a pattern, then whole runs. */
  readonly experiments: readonly EffectExperiment[];
  /** All pieces of advice per provider, by delivery; sorted by name. */
  readonly providers: readonly { readonly provider: string; readonly pieces: Readonly<Record<AdviceArm, number>> }[];
  /** Notes for reading the figures, in a fixed order. */
  readonly notes: readonly string[];
}

/** Counts of the input. */
export interface EffectRuns {
  readonly read: number;
  /** Steered by coxswain. */
  readonly steered: number;
  readonly shadow: number;
  /** Runs in experiments that draw episodes, and in experiments that draw runs. */
  readonly drawnByEpisode: number;
  readonly drawnByRun: number;
  /** Runs with advice left out because of lost records. */
  readonly leftOutForGap: number;
}

/** The outcome of an experiment. It depends on the advice, never on the result. */
export type EffectOutcome =
  /** The episode cleared, or the run succeeded, within the declared number of calls. */
  | 'left-pattern'
  /** The run ended before its deadline. */
  | 'in-time'
  /** The run ended in success. */
  | 'succeeded';

/**
 * A comparison of advised and withheld units. A unit is an episode: a stretch in which the agent is stuck, with all overlapping
 * patterns, or another pattern; for advice without a pattern, a run. In experiments that draw runs, a unit is a run with its child
 * runs, or its first episode.
 */
export interface EffectExperiment {
  /** `stuck`, the kind of the first advised pattern, a provider without a pattern, or `whole runs`. */
  readonly name: string;
  readonly about: 'all' | 'pattern' | 'provider' | 'run';
  readonly outcome: EffectOutcome;
  /**
   * - `helps`, `harms`: the interval lies above, or below, zero
   * - `no-difference`: it lies within the smallest difference that matters
   * - `undecided`: it contains both zero and a difference that matters
   * - `too-little-data`: fewer than 20 runs in an arm
   * - `not-drawn`: there is no experiment
   */
  readonly status: 'helps' | 'harms' | 'no-difference' | 'undecided' | 'too-little-data' | 'not-drawn';
  /** Null if arms were not drawn. */
  readonly told: ArmFigures | null;
  readonly withheld: ArmFigures | null;
  /** Share of good outcomes of advised units minus that of withheld units; null with too little data. */
  readonly difference: number | null;
  /** 95 % interval that stays valid for any number of looks. */
  readonly low: number | null;
  readonly high: number | null;
  /** 95 % interval of a single look at a number of runs fixed beforehand. */
  readonly onceLow: number | null;
  readonly onceHigh: number | null;
  /**
   * Further runs needed to detect a difference of that size with a probability of 80 %. Before an experiment: with half of the advice
   * withheld. Null if unknown.
   */
  readonly power: readonly { readonly difference: number; readonly moreRuns: number | null }[];
  /** False if the arms are so uneven that units of one arm must be missing: 1 in 1,000 by chance. */
  readonly balanced: boolean;
  /** Units left out because the run is still going on or records no outcome. */
  readonly unknown: number;
}

/** Outcomes after the first advice on each unit of one arm. */
export interface ArmFigures {
  readonly units: number;
  /** Runs, each with its child runs. */
  readonly runs: number;
  /** Units whose advice reached the agent. */
  readonly reached: number;
  readonly good: ShareReport;
  /** Units that left their pattern, however late. */
  readonly callsToLeave: Pick<QuartilesReport, 'q1' | 'median' | 'q3'>;
  /** The next call repeated the last one or failed in the same way. */
  readonly repeated: number;
  /** Following calls, at most the declared number, and their failures. */
  readonly calls: number;
  readonly errors: number;
  /** Cost of the model's responses in that time per unit, over the units that record it; null if none does. */
  readonly costUsd: number | null;
  readonly costKnown: number;
  /** Runs that ended earlier without leaving the pattern; they count as not having left it. */
  readonly endedBefore: number;
  /** The agent's acknowledgements. */
  readonly accepted: number;
  readonly rejected: number;
  readonly noted: number;
}
