/** Version of the `BacktestReport` shape. It increases when a field is removed or changes its meaning. */
export const BACKTEST_REPORT_VERSION = 1;

/**
 * The result of a backtest, as plain JSON. The fields have this order, so equal reports are identical byte for byte. The report depends
 * only on the input, the configurations, the labels and the options. It contains no timestamps, no durations and no number of workers.
 */
export interface BacktestReport {
  readonly version: typeof BACKTEST_REPORT_VERSION;
  /** The input paths as the user wrote them, without passwords. */
  readonly paths: readonly string[];
  /** One entry for a plain backtest, two for a comparison, and one per value for a sweep. */
  readonly configurations: readonly ConfigurationReport[];
  readonly input: InputReport;
  /** Where the expected result of each run comes from: the run's recorded outcome, or a labels file. */
  readonly truth: 'outcomes' | 'labels';
  readonly parts: readonly PartReport[];
  /** Present with `--compare`: the changes from the first configuration to the second. */
  readonly comparison?: ComparisonReport;
  readonly sweep?: SweepReport;
  /** Empty without gates. Gates are checked on the last part, with the last configuration. */
  readonly gates: readonly GateReport[];
  /** Notes on how to read the figures, in a fixed order. */
  readonly notes: readonly string[];
}

export interface ConfigurationReport {
  /** `standard`, the path of the configuration file, or `field=value` for a point of a sweep. */
  readonly name: string;
  /** Covers deadline and budget; without them, the same hash as `run_started.steering.configuration_hash`. */
  readonly hash: string;
}

interface RunCounts {
  readonly runs: number;
  readonly calls: number;
  /** Runs that failed or are labelled stuck, and labelled calls. Unlabelled: neither a label nor, without labels, an outcome. */
  readonly positive: number;
  readonly negative: number;
  readonly unlabelled: number;
}

export interface InputReport extends RunCounts {
  /** Runs evaluated at their host's decision points; others after each call and before each turn. */
  readonly ownEvaluations: number;
  /** Runs that coxswain steered but that contain no decision point. No advice can fire in them. */
  readonly neverAsked: number;
  /** Runs in which recorded advice reached the agent: their outcomes include its effect. */
  readonly advised: number;
  /** Runs with missing records. They are replayed without those records. */
  readonly withGap: number;
  /** Runs that were left out because a recorded verdict of a model-backed classifier is missing. */
  readonly withoutVerdicts: number;
  /** Sources with read errors. */
  readonly problems: number;
}

/** A share of 1, rounded to six digits, with its 95 % interval; null if nothing was counted. */
interface Interval {
  readonly share: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

/** `hits` as a share of `of`, with a Wilson score interval. */
export interface ShareReport extends Interval {
  readonly hits: number;
  readonly of: number;
}

/** The runs of one part of a split. Without a split there is one part, `all`. */
export interface PartReport extends RunCounts {
  /** `all`, or `dev` and `test`. */
  readonly name: string;
  /** Number of distinct tasks. A run without a task counts as its own task. */
  readonly tasks: number;
  /** In the same order as `configurations`. */
  readonly byConfiguration: readonly PartFigures[];
  /** The runs by source, agent and model, most runs first. One group if all are alike. */
  readonly groups: readonly GroupReport[];
}

export interface GroupReport {
  readonly name: string;
  readonly runs: number;
  readonly positive: number;
  readonly negative: number;
  /** The figures of all advice, in the same order as `configurations`. */
  readonly advice: readonly Pick<SignalReport, 'runs' | 'precision' | 'falseRate' | 'atSameCall'>[];
}

/** The figures of one configuration in one part. */
export interface PartFigures {
  /** The figures of all advice together, then of each provider in order of name. */
  readonly advice: SignalReport;
  readonly providers: readonly SignalReport[];
  /** The figures of each provider per pattern kind and decision point, sorted by name, kind and point. */
  readonly details: readonly SignalReport[];
  /** The figures per kind of the patterns flagged at `warn` or above, with or without advice. */
  readonly patterns: readonly SignalReport[];
  readonly stopEarly?: StopEarlyReport;
}

/**
 * The calls saved and the successes lost if each run is stopped some calls after its first stuck warning. These figures are exact,
 * because the recording shows the run unchanged up to the stop. They exclude the cost of starting the task again.
 */
export interface StopEarlyReport {
  /** The numbers of calls between the warning and the stop. */
  readonly after: readonly number[];
  /** The first warning of any kind comes first. The kinds follow, ordered by the number of warned runs. */
  readonly policies: readonly StopPolicyReport[];
}

/** Stopping at the first warning of one kind and level. */
export interface StopPolicyReport {
  /** Null for the first warning of any kind. */
  readonly kind: string | null;
  /** The lowest level that counts as a warning. */
  readonly level: 'warn' | 'strong';
  readonly warnedRuns: number;
  /** In the same order as `after`. */
  readonly byAfter: readonly StopFigures[];
}

/** The result of stopping runs a given number of calls after the warning. */
export interface StopFigures {
  readonly after: number;
  /** Number of runs that still had calls left at that point. */
  readonly stoppedRuns: number;
  readonly calls: SavedReport;
  readonly ms: SavedReport;
  readonly tokens: SavedReport;
  readonly costUsd: SavedReport;
  /** Stopped runs that succeeded. */
  readonly lostSuccesses: ShareReport;
}

/** The saved share of the total use, over the runs that record their use. The interval is clustered by run. */
export interface SavedReport extends Interval {
  readonly saved: number;
  readonly of: number;
}

/** The figures of one signal. Every share counts runs; `fired` counts firings. */
export interface SignalReport {
  readonly by: 'advice' | 'provider' | 'detail' | 'pattern';
  /** `advice`, the name of a provider, or the kind of a pattern. */
  readonly name: string;
  /** The kind of pattern that the advice refers to, or null if it refers to none. Only present in `details`. */
  readonly pattern?: string | null;
  /** The decision point. Only present in `details`. */
  readonly point?: string;
  readonly fired: number;
  /** Number of runs with at least one firing, how many of these are labelled, and how many labelled calls have one. */
  readonly runs: number;
  readonly positiveRuns: number;
  readonly negativeRuns: number;
  readonly unlabelledRuns: number;
  /** Firings per 100 calls of the part. */
  readonly per100Calls: number | null;
  /** Share of positive runs among the labelled runs with a firing. In every share, a labelled call counts as a run. */
  readonly precision: ShareReport;
  /** Share of positive runs with a firing. */
  readonly recall: ShareReport;
  /** Share of negative runs with a firing. */
  readonly falseRate: ShareReport;
  /** 2·precision·recall / (precision + recall); null when either is unknown or both are 0. */
  readonly f1: number | null;
  /** The share of the run's calls that were left at the first firing, over the runs with a firing. It is 0 at the last call. */
  readonly callsLeft: QuartilesReport;
  readonly atSameCall: RateRatioReport;
  readonly examples: ExamplesReport;
}

/** At most three first firings of each kind, chosen by a hash of the run's id, whatever the number of workers. */
export interface ExamplesReport {
  /** False alarms. Read these first. */
  readonly negative: readonly MomentReport[];
  readonly positive: readonly MomentReport[];
  readonly unlabelled: readonly MomentReport[];
}

export interface MomentReport {
  readonly run: string;
  /** Number of the call after which the signal fired, from 1. */
  readonly call: number;
  /** The store or file that contains the run. `-` is standard input. */
  readonly source: string;
}

/** By linear interpolation, or null without firings. `bins`: firings per tenth, from 0 up to 0.1, to 1. */
export interface QuartilesReport {
  readonly q1: number | null;
  readonly median: number | null;
  readonly q3: number | null;
  readonly bins: readonly number[];
}

/**
 * Compares how often a signal fires in positive and in negative runs at the same call. It is the Mantel-Haenszel ratio over calls, so a
 * long run does not count as suspicious because of its length. Each call `k` (0-based) is a stratum. The labelled runs with more than `k`
 * calls and no firing before `k` are at risk. First firings at `k` are events. Runs are compared only with runs of the same source, agent
 * and model: agents differ in how often they fail and how often they are flagged.
 */
export interface RateRatioReport {
  /** Null if either side has no event. Above 1, the signal fires more readily in runs that go wrong. */
  readonly ratio: number | null;
  /** 95 % interval, from the variance of the logarithm by Greenland and Robins. */
  readonly low: number | null;
  readonly high: number | null;
  readonly positiveEvents: number;
  readonly negativeEvents: number;
  /** Runs of groups that have both positive and negative runs. The other labelled runs are compared with none. */
  readonly comparedRuns: number;
}

export interface PlaceReport {
  readonly run: string;
  readonly provider: string;
  /** Number of the call before the advice, from 1. */
  readonly call: number;
  /** For moved advice: the call at which it fires under the second configuration. */
  readonly to?: number;
}

/** The changes under the second configuration. Moved advice has the same provider and run but fires at another call. */
export interface ComparisonReport extends ChangeCounts {
  readonly changedRuns: number;
  readonly byProvider: readonly (ChangeCounts & { readonly provider: string })[];
  /** The first 50 changes of each kind, in the order of the runs. */
  readonly places: Readonly<Record<'added' | 'removed' | 'moved', readonly PlaceReport[]>>;
}

export interface ChangeCounts {
  readonly unchanged: number;
  readonly added: number;
  readonly removed: number;
  readonly moved: number;
}

export interface SweepReport {
  readonly field: string;
  /** The signal of the points: the one that the user requested, or else the one whose runs change most along the sweep. */
  readonly signal: { readonly by: SignalReport['by']; readonly name: string };
  /** The part that the points describe. It is the first part, on which thresholds are chosen. */
  readonly part: string;
  readonly points: readonly SweepPointReport[];
}

/** One value of a sweep. `parts[].byConfiguration` has all its figures at the same index. */
export interface SweepPointReport extends Pick<
  SignalReport,
  'fired' | 'runs' | 'precision' | 'recall' | 'falseRate' | 'f1'
> {
  readonly value: number;
  /** Another field that was raised together with the swept one, such as a window too small for that many repetitions. */
  readonly raised?: { readonly path: string; readonly value: number };
}

/** A limit that the configuration must satisfy. */
export interface GateReport {
  readonly gate: 'max-false-rate' | 'min-recall' | 'max-advice-per-100-calls';
  readonly limit: number;
  /** Null if unknown. The gate fails in that case. */
  readonly value: number | null;
  readonly passed: boolean;
  /** The reason, in one sentence. */
  readonly reason: string;
}
