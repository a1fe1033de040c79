/** Version of the shape of a `BacktestReport`; it rises when a member changes its meaning or goes. */
export const BACKTEST_REPORT_VERSION = 1;

/** What every report says of itself. */
export const OFF_POLICY_NOTE =
  'Past the first changed decision a recording is off-policy: it shows what would have been said, not what the agent would have done then.';

/**
 * The result of a backtest. Plain JSON; members stand in this order, so that equal reports are equal byte for byte. It
 * depends on the input, the configurations, the labels and the options alone: it holds no time, no duration, and nothing of
 * how many workers there were.
 */
export interface BacktestReport {
  readonly version: typeof BACKTEST_REPORT_VERSION;
  /** The paths as they were given, without passwords. */
  readonly paths: readonly string[];
  /** At least one: one of a plain backtest, two of a comparison, one a value of a sweep. */
  readonly configurations: readonly ConfigurationReport[];
  readonly input: InputReport;
  /** Where the truth about runs comes from: the outcome each run recorded, or a labels file. */
  readonly truth: 'outcomes' | 'labels';
  readonly parts: readonly PartReport[];
  /** Set by `--compare`: the second configuration against the first. */
  readonly comparison?: ComparisonReport;
  /** Set by `--sweep`. */
  readonly sweep?: SweepReport;
  /** Empty where no gate was asked for. Judged on the last part, with the last configuration. */
  readonly gates: readonly GateReport[];
  /** Sentences that a reader must know to read the figures, in a fixed order; the off-policy note is the first. */
  readonly notes: readonly string[];
}

/** One configuration that was tried. */
export interface ConfigurationReport {
  /** `standard`, the file as it was named, or `field=value` of a sweep. */
  readonly name: string;
  /** As `run_started.steering.configuration_hash` has it. */
  readonly hash: string;
}

/** What was read. */
export interface InputReport {
  readonly runs: number;
  readonly calls: number;
  /** Runs that count as positive (failed, or labelled stuck), as negative, and those of which nobody says. */
  readonly positive: number;
  readonly negative: number;
  readonly unlabelled: number;
  /** Runs asked at the decision points that their own host recorded; at the others one is put after each call and before each turn. */
  readonly ownEvaluations: number;
  /** Of the runs that coxswain steered, those with no decision point: nothing can fire in them. */
  readonly neverAsked: number;
  /** Runs with a gap: they are read as far as they are there. */
  readonly withGap: number;
  /** Runs left out because a model-backed classifier of a configuration has no recorded verdict in them. */
  readonly withoutVerdicts: number;
  /** Sources of which something could not be read. */
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
  /** Different tasks; a run without a task counts as one of its own. */
  readonly tasks: number;
  /** In the order of `configurations`. */
  readonly byConfiguration: readonly PartFigures[];
}

/** What one configuration did in one part. */
export interface PartFigures {
  /** Everything that is said to the agent, whoever says it; then providers, by name. */
  readonly advice: SignalReport;
  readonly providers: readonly SignalReport[];
  /** Providers by the kind of pattern they rest on and the decision point, by name, kind, point. */
  readonly details: readonly SignalReport[];
  /** Patterns that were flagged (from `warn` up), said or not, by kind. */
  readonly patterns: readonly SignalReport[];
  /** Set by `--stop-early`. */
  readonly stopEarly?: StopEarlyReport;
}

/**
 * What stopping each run some calls after its first stuck warning would have saved and lost. Exact: a recording shows a run up to the
 * stop as it was. The cost of starting the task again is not included.
 */
export interface StopEarlyReport {
  /** Calls after the warning at which the runs are stopped. */
  readonly after: readonly number[];
  /** The first warning of any kind first, then kinds by how many runs they warn. */
  readonly policies: readonly StopPolicyReport[];
}

/** Stopping at the first warning of one kind and level. */
export interface StopPolicyReport {
  /** Null for the first warning of any kind. */
  readonly kind: string | null;
  /** The least level that counts. */
  readonly level: 'warn' | 'strong';
  /** Runs with such a warning. */
  readonly warnedRuns: number;
  /** In the order of `after`. */
  readonly byAfter: readonly StopFigures[];
}

/** What stopping so many calls after the warning would have done. */
export interface StopFigures {
  readonly after: number;
  /** Runs with calls left by then. */
  readonly stoppedRuns: number;
  readonly calls: SavedReport;
  readonly ms: SavedReport;
  readonly tokens: SavedReport;
  readonly costUsd: SavedReport;
  /** Of the runs that went well, those that would have been stopped. */
  readonly lostSuccesses: ShareReport;
}

/** What is saved of all that the runs used, over the runs that say so, with a 95 % interval by run. */
export interface SavedReport {
  readonly saved: number;
  readonly of: number;
  /** `saved / of`; null where no run says. */
  readonly share: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

/** How one signal behaved. The unit of every share is the run; `fired` counts times. */
export interface SignalReport {
  readonly by: 'advice' | 'provider' | 'detail' | 'pattern';
  /** `advice`, the provider's name, or the pattern's kind. */
  readonly name: string;
  /** The kind of pattern that the advice rests on; null for advice that rests on none. Of a `detail` only. */
  readonly pattern?: string | null;
  /** The decision point. Of a `detail` only. */
  readonly point?: string;
  /** Times. */
  readonly fired: number;
  /** Runs in which it fired at least once; the labelled ones among them. */
  readonly runs: number;
  readonly positiveRuns: number;
  readonly negativeRuns: number;
  readonly unlabelledRuns: number;
  /** Times for 100 calls of the part. */
  readonly per100Calls: number | null;
  /** Of the labelled runs it fired in, the positive ones. */
  readonly precision: ShareReport;
  /** Of the positive runs, those it fired in. */
  readonly recall: ShareReport;
  /** Of the negative runs, those it fired in. */
  readonly falseRate: ShareReport;
  /** 2·precision·recall / (precision + recall); null when either is unknown or both are 0. */
  readonly f1: number | null;
  /** Over the runs it fired in: the share of the run's calls that were left when it first fired; 0 is at the last call. */
  readonly callsLeft: QuartilesReport;
  readonly atSameCall: RateRatioReport;
  readonly examples: ExamplesReport;
}

/**
 * First firings to look at: of the runs it fired in, at most three of each kind, the same ones whatever the number of workers.
 * Which ones is decided by a hash of the run's id, so that they come from all over the input, and stay when other runs are added
 * (as long as no new one goes before them).
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
  /** Index of the call after which it fired, from 0. */
  readonly call: number;
  /** The store or file that the run was read from, as it was found: `-` is standard input. */
  readonly source: string;
}

/** Quartiles by linear interpolation; null where nothing fired. `bins` counts tenths: from 0 up to 0.1, …, from 0.9 to 1. */
export interface QuartilesReport {
  readonly q1: number | null;
  readonly median: number | null;
  readonly q3: number | null;
  readonly bins: readonly number[];
}

/**
 * Firing in positive against negative runs at the same call: the Mantel-Haenszel ratio over calls, so that long runs do not
 * count as suspicious for being long. One stratum a call `k` (from 0): at risk are labelled runs with more than `k` calls in
 * which the signal has not fired before `k`; events are those in which it fires first at `k`.
 */
export interface RateRatioReport {
  /** Null where either side has no event. Over 1: it fires more readily in runs that go wrong. */
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
  /** Index of the call after which it was said, from 0. */
  readonly call: number;
  /** Of what moved: the call under the second configuration. */
  readonly to?: number;
}

/** What the second configuration changes. A moved piece is of the same provider and run and stands at another call. */
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
  /** The signal that the points are about: what was asked for, else the one whose runs change most along the sweep. */
  readonly signal: { readonly by: SignalReport['by']; readonly name: string };
  /** The part the points are of: the first one, on which thresholds are chosen. */
  readonly part: string;
  readonly points: readonly SweepPointReport[];
}

/** One value of a sweep. All figures of it are in `parts[].byConfiguration` at the same index. */
export interface SweepPointReport {
  readonly value: number;
  /** A field that had to follow, such as a window that could not hold so many repetitions. */
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
  /** Null where it cannot be known: the gate fails then. */
  readonly value: number | null;
  readonly passed: boolean;
  /** In one sentence. */
  readonly reason: string;
}
