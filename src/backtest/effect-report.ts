import type { AdviceArm } from '../run-view/advice-outcome.ts';
import type { QuartilesReport, ShareReport } from './backtest-report.ts';

/** Version of the shape of an `EffectReport`. */
export const EFFECT_REPORT_VERSION = 1;

/** Runs that each arm must have before arms are compared: below it a ratio says next to nothing. */
export const MIN_RUNS_AN_ARM = 20;

/** Runs that must have left their pattern in each arm: the log method is an approximation that needs some five. */
export const MIN_CLEARED_AN_ARM = 5;

/** An interval whose ends are further apart than this factor is not worth showing as a result. */
export const MAX_INTERVAL_FACTOR = 10;

/** Whether advice helped, as far as the records can say. Plain JSON, members in this order; equal input, equal bytes. */
export interface EffectReport {
  readonly version: typeof EFFECT_REPORT_VERSION;
  /** The paths as they were given, without passwords. */
  readonly paths: readonly string[];
  /** Calls within which a pattern should clear. */
  readonly within: number;
  readonly runs: EffectRuns;
  /** By name. */
  readonly providers: readonly ProviderEffect[];
  /** Sentences that a reader must know to read the figures, in a fixed order. */
  readonly notes: readonly string[];
}

/** What was read. A tree is a root run with the runs below it: it is wholly in one arm, so it counts once. */
export interface EffectRuns {
  readonly read: number;
  /** Steered by coxswain. */
  readonly steered: number;
  readonly shadow: number;
  /** Trees whose arm was drawn. */
  readonly delivered: number;
  readonly withheld: number;
  /** Trees with advice that are left out: something is lost, or the run still goes on and the calls asked for are not over. */
  readonly leftOutForGap: number;
  readonly leftOutAsOpen: number;
}

/** What became of the advice of one provider. */
export interface ProviderEffect {
  readonly provider: string;
  /** All pieces, by what became of them. */
  readonly pieces: Readonly<Record<AdviceArm, number>>;
  readonly comparison: EffectComparison;
}

/**
 * The one figure of a provider. A tree counts where the provider speaks, of a pattern that is flagged, at the first decision
 * point of the tree at which anything is said or withheld: until then both arms were the same, whatever came later was not.
 * The arms are those that were drawn, so a piece that should have been said and did not arrive counts as said.
 */
export interface EffectComparison {
  readonly status: 'compared' | 'too-little-data' | 'not-randomised';
  /** Why there is no comparison; else what the interval says, in one sentence. */
  readonly reason: string;
  /** Null where the arms were not drawn. */
  readonly delivered: ArmFigures | null;
  readonly withheld: ArmFigures | null;
  /** Of runs that left the pattern within the calls asked for, delivered to withheld; null unless compared. */
  readonly ratio: number | null;
  /** 95 % interval. */
  readonly low: number | null;
  readonly high: number | null;
  /** Groups by configuration and share that were compared each within itself. */
  readonly strata: number;
  /** Trees left out because something else was said or withheld before the provider's first word. */
  readonly afterOther: number;
}

/** What followed the first word of a provider in one arm. */
export interface ArmFigures {
  /** Trees. */
  readonly runs: number;
  /** Pieces that did reach the agent. */
  readonly reached: number;
  /** Left the pattern within the calls asked for. */
  readonly cleared: ShareReport;
  /** Ended before so many calls with the pattern not left; they count as not having left it. */
  readonly endedBefore: number;
  /** Of those that left it, however late. */
  readonly callsToClear: Pick<QuartilesReport, 'q1' | 'median' | 'q3'>;
  /** Calls and errors in the calls asked for. */
  readonly calls: number;
  readonly errors: number;
  /** Cost of the model's answers meanwhile, per run, over the runs that tell it; null where none does. */
  readonly costUsd: number | null;
  readonly costKnown: number;
  /** The agent's answers. */
  readonly accepted: number;
  readonly rejected: number;
  readonly noted: number;
}
