/** Version of the shape of a `BacktestReport`; it rises when a member is removed or changes its meaning. */
export const BACKTEST_REPORT_VERSION = 1;

/** The first note of every report. */
export const OFF_POLICY_NOTE =
  'Past the first changed decision a recording is off-policy: it shows what would have been said, not what the agent would have done then.';

/**
 * The result of a backtest. Plain JSON with members in this order, so equal reports are equal byte for byte. It depends only on
 * the input, the configurations, the labels and the options: it holds no time, no duration and no number of workers.
 */
export interface BacktestReport {
  readonly version: typeof BACKTEST_REPORT_VERSION;
  /** The paths as named, without passwords. */
  readonly paths: readonly string[];
  /** One of a plain backtest, two of a comparison, one per value of a sweep. */
  readonly configurations: readonly ConfigurationReport[];
  readonly input: InputReport;
  /** The source of the truth about runs: the outcome that each run recorded, or a labels file. */
  readonly truth: 'outcomes' | 'labels';
  readonly parts: readonly PartReport[];
  /** Set by `--compare`: the second configuration against the first. */
  readonly comparison?: ComparisonReport;
  /** Set by `--sweep`. */
  readonly sweep?: SweepReport;
  /** Empty without gates. Judged on the last part, with the last configuration. */
  readonly gates: readonly GateReport[];
  /** Notes for reading the figures, in a fixed order; the off-policy note comes first. */
  readonly notes: readonly string[];
}

/** A tested configuration. */
export interface ConfigurationReport {
  /** `standard`, the path of the file, or `field=value` of a sweep. */
  readonly name: string;
  /** Equals `run_started.steering.configuration_hash`. */
  readonly hash: string;
}

/** Counts of the input. */
export interface InputReport {
  readonly runs: number;
  readonly calls: number;
  /** Positive runs (failed, or labelled stuck), negative runs, and runs without a label or outcome. */
  readonly positive: number;
  readonly negative: number;
  readonly unlabelled: number;
  /** Runs evaluated at the decision points that their own host recorded; other runs are evaluated after each call and before each turn. */
  readonly ownEvaluations: number;
  /** Runs steered by coxswain without a decision point: nothing can fire in them. */
  readonly neverAsked: number;
  /** Runs with a gap, replayed without the lost records. */
  readonly withGap: number;
  /** Runs left out because they lack a recorded verdict of a model-backed classifier. */
  readonly withoutVerdicts: number;
  /** Sources with read errors. */
  readonly problems: number;
}

/** A share with its 95 % Wilson score interval. */
export interface ShareReport {
  readonly hits: number;
  readonly of: number;
  /** `hits / of`, rounded to six digits; null when `of` is 0. */
  readonly share: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

/** Runs of one part of a split; without a split there is one part, `all`. */
export interface PartReport {
  /** `all`, or `dev` and `test`. */
  readonly name: string;
  readonly runs: number;
  readonly calls: number;
  readonly positive: number;
  readonly negative: number;
  readonly unlabelled: number;
  /** Different tasks; a run without a task counts as its own task. */
  readonly tasks: number;
  /** In the order of `configurations`. */
  readonly byConfiguration: readonly PartFigures[];
}

/** Figures of one configuration in one part. */
export interface PartFigures {
  /** All advice, then each provider, by name. */
  readonly advice: SignalReport;
  readonly providers: readonly SignalReport[];
  /** Providers by pattern kind and decision point, sorted by name, kind, point. */
  readonly details: readonly SignalReport[];
  /** Patterns flagged at `warn` or above, with or without advice, by kind. */
  readonly patterns: readonly SignalReport[];
  /** Set by `--stop-early`. */
  readonly stopEarly?: StopEarlyReport;
}

/**
 * Savings and losses of stopping each run some calls after its first stuck warning. Exact: a recording shows a run up to the stop
 * as it was. Excludes the cost of starting the task again.
 */
export interface StopEarlyReport {
  /** Calls after the warning at which the runs are stopped. */
  readonly after: readonly number[];
  /** The first warning of any kind first, then kinds by the number of warned runs. */
  readonly policies: readonly StopPolicyReport[];
}

/** Stopping at the first warning of one kind and level. */
export interface StopPolicyReport {
  /** Null for the first warning of any kind. */
  readonly kind: string | null;
  /** The lowest level that counts. */
  readonly level: 'warn' | 'strong';
  /** Runs with such a warning. */
  readonly warnedRuns: number;
  /** In the order of `after`. */
  readonly byAfter: readonly StopFigures[];
}

/** The result of stopping so many calls after the warning. */
export interface StopFigures {
  readonly after: number;
  /** Runs with calls left at that point. */
  readonly stoppedRuns: number;
  readonly calls: SavedReport;
  readonly ms: SavedReport;
  readonly tokens: SavedReport;
  readonly costUsd: SavedReport;
  /** Stopped runs that succeeded. */
  readonly lostSuccesses: ShareReport;
}

/** Saved share of the total use, over the runs that record it, with a 95 % interval by run. */
export interface SavedReport {
  readonly saved: number;
  readonly of: number;
  /** `saved / of`; null if no run records it. */
  readonly share: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

/** Figures of one signal. The unit of every share is the run; `fired` counts firings. */
export interface SignalReport {
  readonly by: 'advice' | 'provider' | 'detail' | 'pattern';
  /** `advice`, the provider's name, or the pattern's kind. */
  readonly name: string;
  /** The kind of pattern that the advice refers to; null if it refers to none. Of a `detail` only. */
  readonly pattern?: string | null;
  /** The decision point. Of a `detail` only. */
  readonly point?: string;
  /** Firings. */
  readonly fired: number;
  /** Runs with at least one firing; the labelled ones among them. */
  readonly runs: number;
  readonly positiveRuns: number;
  readonly negativeRuns: number;
  readonly unlabelledRuns: number;
  /** Firings per 100 calls of the part. */
  readonly per100Calls: number | null;
  /** Share of positive runs among the labelled runs with a firing. */
  readonly precision: ShareReport;
  /** Share of positive runs with a firing. */
  readonly recall: ShareReport;
  /** Share of negative runs with a firing. */
  readonly falseRate: ShareReport;
  /** 2·precision·recall / (precision + recall); null when either is unknown or both are 0. */
  readonly f1: number | null;
  /** Over the runs with a firing: the share of the run's calls left at the first firing; 0 is at the last call. */
  readonly callsLeft: QuartilesReport;
  readonly atSameCall: RateRatioReport;
  readonly examples: ExamplesReport;
}

/**
 * First firings to look at: at most three runs of each kind, the same for any number of workers. A hash of the run's id selects
 * them, so they come from all over the input.
 */
export interface ExamplesReport {
  /** False alarms: the ones to read first. */
  readonly negative: readonly MomentReport[];
  readonly positive: readonly MomentReport[];
  readonly unlabelled: readonly MomentReport[];
}

/** A call of a run. */
export interface MomentReport {
  readonly run: string;
  /** 0-based index of the call after which it fired. */
  readonly call: number;
  /** The store or file of the run; `-` is standard input. */
  readonly source: string;
}

/** Quartiles by linear interpolation; null without firings. `bins` counts tenths: from 0 up to 0.1, …, from 0.9 to 1. */
export interface QuartilesReport {
  readonly q1: number | null;
  readonly median: number | null;
  readonly q3: number | null;
  readonly bins: readonly number[];
}

/**
 * Firing in positive against negative runs at the same call: the Mantel-Haenszel ratio over calls, so that long runs do not
 * count as suspicious for being long. Each call `k` (0-based) is a stratum: at risk are labelled runs with more than `k` calls and
 * no firing before `k`; events are first firings at `k`.
 */
export interface RateRatioReport {
  /** Null if either side has no event. Above 1: it fires more readily in runs that go wrong. */
  readonly ratio: number | null;
  /** 95 % interval by the variance of Greenland and Robins for the logarithm. */
  readonly low: number | null;
  readonly high: number | null;
  readonly positiveEvents: number;
  readonly negativeEvents: number;
}

/** A place to look at. */
export interface PlaceReport {
  readonly run: string;
  readonly provider: string;
  /** 0-based index of the call before the advice. */
  readonly call: number;
  /** Of moved advice: the call under the second configuration. */
  readonly to?: number;
}

/** Changes under the second configuration. A moved piece has the same provider and run and another call. */
export interface ComparisonReport {
  readonly unchanged: number;
  readonly added: number;
  readonly removed: number;
  readonly moved: number;
  /** Runs with any difference. */
  readonly changedRuns: number;
  readonly byProvider: readonly {
    readonly provider: string;
    readonly unchanged: number;
    readonly added: number;
    readonly removed: number;
    readonly moved: number;
  }[];
  /** The first 50 of each, in the order of runs. */
  readonly places: {
    readonly added: readonly PlaceReport[];
    readonly removed: readonly PlaceReport[];
    readonly moved: readonly PlaceReport[];
  };
}

/** The points of a sweep. */
export interface SweepReport {
  /** The full path of the field. */
  readonly field: string;
  /** The signal of the points: the requested one, else the one whose runs change most along the sweep. */
  readonly signal: { readonly by: SignalReport['by']; readonly name: string };
  /** The part of the points: the first one, on which thresholds are chosen. */
  readonly part: string;
  readonly points: readonly SweepPointReport[];
}

/** One value of a sweep. All its figures are in `parts[].byConfiguration` at the same index. */
export interface SweepPointReport {
  readonly value: number;
  /** A field raised with it, such as a window that could not hold so many repetitions. */
  readonly raised?: { readonly path: string; readonly value: number };
  readonly fired: number;
  readonly runs: number;
  readonly precision: ShareReport;
  readonly recall: ShareReport;
  readonly falseRate: ShareReport;
  readonly f1: number | null;
}

/** A bound that the configuration must keep. */
export interface GateReport {
  readonly gate: 'max-false-rate' | 'min-recall' | 'max-advice-per-100-calls';
  readonly limit: number;
  /** Null if unknown: the gate fails then. */
  readonly value: number | null;
  readonly passed: boolean;
  /** One sentence. */
  readonly reason: string;
}
