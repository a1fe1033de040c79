import type { NextCall } from '../../run-view/advice-outcome.ts';
import type { RunVerdict } from '../../run-view/run-verdict.ts';
import type { Facets } from './api-shapes.ts';

/** A call in a run. */
export interface RunMoment {
  readonly runId: string;
  /** 1-based number of the call. */
  readonly call: number;
}

/** The kinds of review queues. `disagreement` contains labelled calls for which the patterns contradict the label. */
export const REVIEW_KINDS = ['pattern', 'advice', 'random', 'disagreement'] as const;
export type ReviewBy = (typeof REVIEW_KINDS)[number];

export interface ReviewMoment extends RunMoment {
  readonly source: string;
}

/** Calls to review, always in the same order. */
export interface ReviewAnswer {
  /** At most 500 calls, three per run. */
  readonly moments: readonly ReviewMoment[];
  /** Number of runs that have not been read yet and may add calls. */
  readonly pending: number;
  readonly facets: Facets;
}

/** The outcomes of the runs with a pattern. */
export interface PatternCost {
  readonly kind: string;
  readonly runs: number;
  /** Number of runs with a known outcome. */
  readonly judged: number;
  readonly succeeded: number;
  /** The success rate of runs that reached the same call without the pattern. Null if there are no such runs. */
  readonly expected: number | null;
  /** Number of calls after the pattern was flagged. */
  readonly callsAfter: number;
  /** Number of runs by the call at which the pattern was flagged: up to 2, 5, 10, 20, 50, 100, 200, and later. */
  readonly begins: readonly number[];
  /** The runs with the most calls after the pattern. */
  readonly examples: readonly RunMoment[];
}

/** The effect of stopping each run `after` calls after its first warning. */
export interface EarlyStop {
  readonly after: number;
  readonly stopped: number;
  /** Number of calls saved. */
  readonly saved: number;
  /** Number of stopped runs that succeeded in the recording. */
  readonly lost: number;
}

export interface CohortRow {
  readonly source: string;
  readonly runId: string;
  readonly calls: number;
  readonly strip: string;
  readonly verdict: RunVerdict['verdict'];
}

/** Stuck runs whose first warning has the same pattern, tool and error line. */
export interface FailureCluster {
  /** These three, as `warningKey` formats them: the value of the filter `stuck` that selects these runs. */
  readonly key: string;
  readonly runs: number;
  /** Number of calls after the first warning. */
  readonly calls: number;
  readonly example: RunMoment;
}

/** Figures of the matching runs. All fields except `runs` cover only the runs that have been read. */
export interface CohortAnswer {
  readonly runs: number;
  readonly seen: number;
  readonly pending: number;
  readonly models: number;
  readonly agents: number;
  /** Number of runs with a known outcome. */
  readonly judged: number;
  readonly succeeded: number;
  readonly stuck: number;
  readonly stuckJudged: number;
  readonly stuckSucceeded: number;
  readonly calls: number;
  /** The `wasted…` fields count everything after the first warning. */
  readonly wastedCalls: number;
  /** Cost in US dollars from the model's responses. It is 0 if unknown. */
  readonly costUsd: number;
  readonly wastedUsd: number;
  /** Number of runs with a known cost. */
  readonly costRuns: number;
  readonly tokens: number;
  readonly wastedTokens: number;
  /** The pattern whose runs fall short of the expected successes by the largest number comes first. */
  readonly patterns: readonly PatternCost[];
  /** Sorted by `after`, starting at 0. */
  readonly stops: readonly EarlyStop[];
  /** At most 400 rows, sorted by first pattern and its call. */
  readonly rows: readonly CohortRow[];
  /** Amount of advice by delivery and next call. */
  readonly fates: Readonly<Partial<Record<string, Readonly<Partial<Record<NextCall, number>>>>>>;
  /** Figures per UTC day on which runs started, days without runs included. At most the latest 120 days. */
  readonly days: readonly {
    readonly day: string;
    readonly runs: number;
    readonly costUsd: number;
    readonly wastedUsd: number;
    readonly tokens: number;
    readonly wastedTokens: number;
  }[];
  /** The 15 clusters with the most runs. */
  readonly clusters: readonly FailureCluster[];
  readonly facets: Facets;
}

/** The runs of one task. */
export interface TaskGroup {
  readonly task: string;
  /** The task without the beginning that it shares with other tasks. */
  readonly title: string;
  readonly runs: number;
  /** Number of runs with a known outcome. */
  readonly judged: number;
  readonly succeeded: number;
  readonly stuck: number;
  readonly medianCalls: number;
  readonly wastedCalls: number;
  /** Cost in US dollars. Absent if unknown. */
  readonly costUsd?: number;
  /** At most 24 runs, successful ones first. */
  readonly named: readonly { readonly source: string; readonly runId: string }[];
}

/** The matching runs grouped by task. At most the first 500 tasks of the requested order, by default those with the most runs. */
export interface TasksAnswer {
  readonly tasks: readonly TaskGroup[];
  readonly pending: number;
}
