import type { Delivery } from '../core/facts/advice-outcome.ts';
import type { QuartilesReport, ShareReport } from './backtest-report.ts';

/** Version of the shape of an `EffectReport`. */
export const EFFECT_REPORT_VERSION = 3;

/** The minimum number of runs per arm for a comparison. The intervals are approximations that need about twenty runs. */
export const MIN_RUNS_AN_ARM = 20;

/** The differences for which the report lists the required number of runs. */
export const STATED_DIFFERENCES: readonly number[] = [0.05, 0.1, 0.2];

/** The measured effect of advice in recorded runs, as plain JSON. The fields have this order, so equal input gives equal bytes. */
export interface EffectReport {
  readonly version: typeof EFFECT_REPORT_VERSION;
  /** The input paths as the user wrote them, without passwords. */
  readonly paths: readonly string[];
  /** Number of calls within which a pattern should clear. */
  readonly within: number;
  /** True if the experiment declared this number beforehand. */
  readonly declared: boolean;
  /** The smallest difference that matters, as a share of 1. */
  readonly worthwhile: number;
  readonly runs: EffectRuns;
  /** Ordered: `stuck`, then pattern kinds by name, then providers without a pattern, then whole runs. */
  readonly experiments: readonly EffectExperiment[];
  /** The amount of advice per provider and delivery, sorted by name. */
  readonly providers: readonly { readonly provider: string; readonly pieces: Readonly<Record<Delivery, number>> }[];
  /** Notes on how to read the figures, in a fixed order. */
  readonly notes: readonly string[];
}

/** Counts of the input. */
export interface EffectRuns {
  readonly read: number;
  /** Number of runs that coxswain steered. */
  readonly steered: number;
  readonly shadow: number;
  /** Number of runs in experiments that draw episodes, and in experiments that draw whole runs. */
  readonly drawnByEpisode: number;
  readonly drawnByRun: number;
  /** Number of runs with advice that were left out because records are missing. */
  readonly leftOutForGap: number;
}

/** The outcome that an experiment measures. The advice alone determines which outcome applies; the result of the run has no influence. */
export type EffectOutcome =
  /** Good if the episode cleared, or the run succeeded, within the declared number of calls. */
  | 'left-pattern'
  /** Good if the run ended before its deadline. */
  | 'in-time'
  /** Good if the run ended in success. */
  | 'succeeded';

/**
 * A comparison of units with delivered and with withheld advice. For advice about a pattern, a unit is an episode. An episode is either a
 * period in which the agent is stuck, with all overlapping patterns, or one other pattern. For advice without a pattern, a unit is a run.
 * In experiments that draw runs, a unit is a run with its child runs, or the first episode of that group.
 */
export interface EffectExperiment {
  /** `stuck`, the kind of the first advised pattern, the name of a provider without a pattern, or `whole runs`. */
  readonly name: string;
  readonly about: 'all' | 'pattern' | 'provider' | 'run';
  readonly outcome: EffectOutcome;
  /**
   * The conclusion of the comparison:
   * - `helps`, `harms`: the interval is entirely above, or below, zero
   * - `no-difference`: the interval is within the smallest difference that matters
   * - `undecided`: the interval contains both zero and a difference that matters
   * - `too-little-data`: an arm has fewer than 20 runs
   * - `not-drawn`: there is no experiment
   */
  readonly status: 'helps' | 'harms' | 'no-difference' | 'undecided' | 'too-little-data' | 'not-drawn';
  /** Null if arms were not assigned at random. */
  readonly advised: ArmFigures | null;
  readonly withheld: ArmFigures | null;
  /** The share of good outcomes with delivered advice minus the share with withheld advice. Null with too little data. */
  readonly difference: number | null;
  /** 95 % interval that stays valid for any number of looks. */
  readonly low: number | null;
  readonly high: number | null;
  /** 95 % interval for a single look, after a number of runs fixed beforehand. */
  readonly onceLow: number | null;
  readonly onceHigh: number | null;
  /**
   * The number of further runs needed to detect a difference of this size with a probability of 80 %. Before an experiment, it assumes
   * that half of the advice will be withheld. Null if unknown.
   */
  readonly power: readonly { readonly difference: number; readonly moreRuns: number | null }[];
  /** False if the arms are so uneven that units of one arm must be missing. By chance this happens once in 1,000 times. */
  readonly balanced: boolean;
  /** Number of units left out because their run has not ended or records no outcome. */
  readonly unknown: number;
}

/** The outcomes after the first advice on each unit of one arm. */
export interface ArmFigures {
  readonly units: number;
  /** Number of runs. A run and its child runs count as one. */
  readonly runs: number;
  /** Number of units whose advice reached the agent. */
  readonly reached: number;
  readonly good: ShareReport;
  /** Number of calls until the pattern cleared, over all units whose pattern cleared at any time. */
  readonly callsToLeave: Pick<QuartilesReport, 'q1' | 'median' | 'q3'>;
  /** Number of units whose next call repeated the previous call or failed in the same way. */
  readonly repeated: number;
  /** The number of calls that followed, up to the declared number, and how many of them failed. */
  readonly calls: number;
  readonly errors: number;
  /** Cost per unit of the model's responses in that period, over the units that record it. Null if none does. */
  readonly costUsd: number | null;
  readonly costKnown: number;
  /** Number of runs that ended earlier without the pattern clearing. They count as not cleared. */
  readonly endedBefore: number;
  /** Acknowledgements by the agent: accepted, rejected or noted. */
  readonly accepted: number;
  readonly rejected: number;
  readonly noted: number;
}
