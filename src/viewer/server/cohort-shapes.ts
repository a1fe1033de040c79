import type { NextCall } from '../../run-view/advice-outcome.ts';
import type { RunVerdict } from '../../run-view/run-verdict.ts';
import type { Facets } from './api-shapes.ts';

/** A call of a run. */
export interface RunMoment {
  readonly runId: string;
  /** From 1. */
  readonly call: number;
}

/** The moments of a review. `disagreement`: labelled moments at which the patterns say otherwise. */
export const REVIEW_KINDS = ['pattern', 'advice', 'random', 'disagreement'] as const;
export type ReviewBy = (typeof REVIEW_KINDS)[number];

export interface ReviewMoment extends RunMoment {
  readonly source: string;
}

/** Moments to review, always in the same order. */
export interface ReviewAnswer {
  /** At most 500, three per run. */
  readonly moments: readonly ReviewMoment[];
  /** Runs that are not read yet and may have more. */
  readonly pending: number;
}

/** The outcome of the runs with a pattern. */
export interface PatternCost {
  readonly kind: string;
  readonly runs: number;
  /** Runs with a known outcome. */
  readonly judged: number;
  readonly succeeded: number;
  /** The success rate of runs that got as far without the pattern; null without such runs. */
  readonly expected: number | null;
  /** Calls after it was flagged. */
  readonly callsAfter: number;
  /** Runs by the call at which it was flagged: up to 2, 5, 10, 20, 50, 100, 200, and later. */
  readonly begins: readonly number[];
  /** The runs with most calls after it. */
  readonly examples: readonly RunMoment[];
}

/** The effect of stopping each run `after` calls after its first warning. */
export interface EarlyStop {
  readonly after: number;
  readonly stopped: number;
  /** Calls saved. */
  readonly saved: number;
  /** Stopped runs that succeeded. */
  readonly lost: number;
}

export interface CohortRow {
  readonly source: string;
  readonly runId: string;
  readonly calls: number;
  readonly strip: string;
  readonly verdict: RunVerdict['verdict'];
}

/** Similar stuck runs. */
export interface FailureCluster {
  /** The first pattern. */
  readonly kind: string;
  /** The most frequent error line, numbers masked; empty without error lines. */
  readonly line: string;
  readonly runs: number;
  /** After the first warning. */
  readonly calls: number;
  readonly example: RunMoment;
}

/** Figures of the matching runs. All but `runs` cover the runs that were read. */
export interface CohortAnswer {
  readonly runs: number;
  readonly seen: number;
  readonly pending: number;
  readonly models: number;
  readonly agents: number;
  /** Runs with a known outcome. */
  readonly judged: number;
  readonly succeeded: number;
  readonly stuck: number;
  readonly stuckJudged: number;
  readonly stuckSucceeded: number;
  readonly calls: number;
  /** All that is wasted is counted after the first warning. */
  readonly wastedCalls: number;
  /** US dollars from the model's answers; 0 if unknown. */
  readonly costUsd: number;
  readonly wastedUsd: number;
  readonly tokens: number;
  readonly wastedTokens: number;
  /** Most calls after it first. */
  readonly patterns: readonly PatternCost[];
  /** By `after`, from 0. */
  readonly stops: readonly EarlyStop[];
  /** At most 400, by first pattern and its call. */
  readonly rows: readonly CohortRow[];
  /** Number of pieces of advice by delivery and next call. */
  readonly fates: Readonly<Partial<Record<string, Readonly<Partial<Record<NextCall, number>>>>>>;
  /** By the UTC day of the start; the latest 120. */
  readonly days: readonly {
    readonly day: string;
    readonly runs: number;
    readonly costUsd: number;
    readonly wastedUsd: number;
    readonly tokens: number;
    readonly wastedTokens: number;
  }[];
  /** The 15 with most runs. */
  readonly clusters: readonly FailureCluster[];
  readonly facets: Facets;
}

/** The runs of one task. */
export interface TaskGroup {
  readonly task: string;
  readonly runs: number;
  /** Runs with a known outcome. */
  readonly judged: number;
  readonly succeeded: number;
  readonly stuck: number;
  readonly medianCalls: number;
  readonly wastedCalls: number;
  /** US dollars; absent if unknown. */
  readonly costUsd?: number;
  /** At most 24, successful ones first. */
  readonly named: readonly { readonly source: string; readonly runId: string }[];
}

/** The matching runs by task: at most 500 tasks, most runs first. */
export interface TasksAnswer {
  readonly tasks: readonly TaskGroup[];
  readonly pending: number;
}
