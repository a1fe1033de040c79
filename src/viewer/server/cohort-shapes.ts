import type { NextCall } from '../../run-view/advice-outcome.ts';
import type { RunVerdict } from '../../run-view/run-verdict.ts';
import type { Facets } from './api-shapes.ts';

/** A call of a run, by which the page finds it. */
export interface RunMoment {
  readonly runId: string;
  /** From 1. */
  readonly call: number;
}

/** The moments of a review. `disagreement`: labelled moments at which the patterns say otherwise. */
export const REVIEW_KINDS = ['pattern', 'advice', 'random', 'disagreement'] as const;
export type ReviewBy = (typeof REVIEW_KINDS)[number];

/** A moment that a person is to look at. */
export interface ReviewMoment extends RunMoment {
  readonly source: string;
}

/** Moments in the order in which they are to be looked at, the same one every time. */
export interface ReviewAnswer {
  /** At most 500, three of a run. */
  readonly moments: readonly ReviewMoment[];
  /** Runs that may have more, once they have been looked at. */
  readonly pending: number;
}

/** What became of the runs with a pattern. */
export interface PatternCost {
  readonly kind: string;
  readonly runs: number;
  /** Of them, those of which it is known how they went. */
  readonly judged: number;
  readonly succeeded: number;
  /** The share of successes among runs that had come as far without the pattern; null where there is none. */
  readonly expected: number | null;
  /** Calls that the runs made after it was flagged. */
  readonly callsAfter: number;
  /** Runs by the call at which it was flagged: up to 2, 5, 10, 20, 50, 100, 200, and later. */
  readonly begins: readonly number[];
  /** Those with most calls after it, at the moment. */
  readonly examples: readonly RunMoment[];
}

/** What if each run had been stopped so many calls after its first warning. */
export interface EarlyStop {
  readonly after: number;
  readonly stopped: number;
  /** Calls. */
  readonly saved: number;
  /** Runs that succeeded after all. */
  readonly lost: number;
}

/** A run as a row of a picture. */
export interface CohortRow {
  readonly source: string;
  readonly runId: string;
  readonly calls: number;
  readonly strip: string;
  readonly verdict: RunVerdict['verdict'];
}

/** Stuck runs that resemble each other. */
export interface FailureCluster {
  /** The first pattern. */
  readonly kind: string;
  /** What most calls failed with, numbers masked; empty where no call failed with a line. */
  readonly line: string;
  readonly runs: number;
  /** After the first warning. */
  readonly calls: number;
  readonly example: RunMoment;
}

/** What the runs that match came to. Everything but `runs` is about those that were looked at. */
export interface CohortAnswer {
  readonly runs: number;
  readonly seen: number;
  readonly pending: number;
  readonly models: number;
  readonly agents: number;
  /** Runs of which it is known how they went. */
  readonly judged: number;
  readonly succeeded: number;
  readonly stuck: number;
  readonly stuckJudged: number;
  readonly stuckSucceeded: number;
  readonly calls: number;
  /** After the first warning, as all that is wasted here. */
  readonly wastedCalls: number;
  /** US dollars, where answers of the model say; 0 where none does. */
  readonly costUsd: number;
  readonly wastedUsd: number;
  readonly tokens: number;
  readonly wastedTokens: number;
  /** Those with most calls after them first. */
  readonly patterns: readonly PatternCost[];
  /** From 0 calls after the warning on. */
  readonly stops: readonly EarlyStop[];
  /** At most 400, by their first pattern and when it began. */
  readonly rows: readonly CohortRow[];
  /** Pieces of advice by what became of them, and by the call that followed. */
  readonly fates: Readonly<Partial<Record<string, Readonly<Partial<Record<NextCall, number>>>>>>;
  /** By the UTC day on which runs began; the latest 120. */
  readonly days: readonly {
    readonly day: string;
    readonly runs: number;
    readonly costUsd: number;
    readonly wastedUsd: number;
    readonly tokens: number;
    readonly wastedTokens: number;
  }[];
  /** The 15 of most runs. */
  readonly clusters: readonly FailureCluster[];
  readonly facets: Facets;
}

/** The runs of one task. */
export interface TaskGroup {
  readonly task: string;
  readonly runs: number;
  /** Runs of which it is known how they went. */
  readonly judged: number;
  readonly succeeded: number;
  readonly stuck: number;
  readonly medianCalls: number;
  readonly wastedCalls: number;
  /** US dollars; absent where no answer of the model says. */
  readonly costUsd?: number;
  /** At most 24, those that succeeded first. */
  readonly named: readonly { readonly source: string; readonly runId: string }[];
}

/** The runs that match by task: at most 500, those of most runs first. */
export interface TasksAnswer {
  readonly tasks: readonly TaskGroup[];
  readonly pending: number;
}
