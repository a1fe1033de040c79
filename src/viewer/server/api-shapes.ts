import type { RunVerdict } from '../../run-view/run-verdict.ts';
import type { AdviceArm, NextCall } from '../../run-view/advice-outcome.ts';
import type { Label } from '../../backtest/labels.ts';
import type { Severity } from '../../records/feedback.ts';
import type { DecisionPoint } from '../../records/guidance.ts';
import type { PatternLevel } from '../../records/trajectory-pattern.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import type { RunPatterns } from '../../run-view/seen-pattern.ts';
import type { RunSummary } from '../../store/run-summary.ts';
import type { StoreKind } from '../../store/store-address.ts';
import type { ToolKind } from '../../calls/tool-kind.ts';

export interface Problem {
  /** A code of `CoxswainError`, or of the viewer, such as `store-gone`. */
  readonly code: string;
  readonly message: string;
  /** How to solve it, if possible. */
  readonly fix?: string;
}

/** The body of every error response. */
export interface ErrorAnswer {
  readonly error: Problem;
}

/** A store or files given to the viewer. */
export interface SourceRow {
  /** Short, without slashes; constant while the server runs. */
  readonly id: string;
  /** The last part of the path. */
  readonly name: string;
  readonly path: string;
  readonly kind: StoreKind | 'files';
  /** Runs known so far. */
  readonly runs: number;
  /** Set if there are more runs than the newest 100,000, which are listed. */
  readonly truncated?: true;
  /** Set while files are read. */
  readonly indexing?: { readonly files: number; readonly done: number };
  readonly problem?: Problem;
}

export interface SourcesAnswer {
  readonly sources: readonly SourceRow[];
}

/** Spending of a run after its first warning. */
export interface Wasted {
  /** The call after which a stuck pattern was first flagged. */
  readonly call: number;
  /** Calls after it. */
  readonly calls: number;
  readonly ms: number;
  /** Absent if unknown. */
  readonly tokens?: number;
  readonly costUsd?: number;
}

/** Facts about a run that need its records. */
export interface RunExtras {
  /** Kinds of the patterns at `warn` or above, each once, at most eight. */
  readonly patterns: readonly string[];
  /** For each of them, the call after which it was first flagged. */
  readonly patternCalls: readonly number[];
  /** Absent if the run was never stuck. */
  readonly wasted?: Wasted;
  readonly verdict: RunVerdict['verdict'];
  /** Number of pieces of advice by delivery and next call: `delivered repeated`. */
  readonly fates: Readonly<Record<string, number>>;
  /** Calls after which advice was produced, at most eight. */
  readonly adviceCalls: readonly number[];
  /** The most frequent error line, its numbers masked, and its count; absent without error lines. */
  readonly errorLine?: readonly [string, number];
  /** True if one of the patterns means stuck. */
  readonly stuck: boolean;
  readonly adviceCount: number;
  /** Advice without a record of delivery: withheld, shadowed, or not delivered. */
  readonly adviceUnsaid: number;
  /** From the model's answers; absent if unknown. */
  readonly costUsd?: number;
  readonly tokens?: number;
  /** At most 60 characters, one per bucket of calls: `.` fine, `x` error, `!` in a stuck pattern, `a` advice. */
  readonly strip: string;
  /** Names of the tools called: at most 64 of at most 100 characters. */
  readonly tools: readonly string[];
}

/** A search hit in a run. */
export interface FoundPlace {
  readonly seq: number;
  /** At most 200 characters around the first word. */
  readonly snippet: string;
}

/** A run in a list, with the members of `RunExtras` if `extras` is true. */
export interface ListedRow extends Omit<RunSummary, 'source' | 'openCalls'>, Partial<RunExtras> {
  /** Id of a `SourceRow`. */
  readonly source: string;
  /** Origin of an imported run: `path#id`. */
  readonly from?: string;
  readonly extras: boolean;
  readonly childCount: number;
  /** In a search: the first record with the words; absent if the id or the task contains them. */
  readonly found?: FoundPlace;
  /** Without an outcome, and with a record in the last two minutes. */
  readonly live: boolean;
}

/** For each filter, its values and their number of runs, most frequent first. */
export type Facets = Readonly<
  Record<
    'status' | 'outcome' | 'model' | 'agent' | 'task' | 'tool' | 'pattern' | 'advice',
    readonly (readonly [string, number])[]
  >
>;

/** A page of runs. */
export interface RunsAnswer {
  /** Counted over the runs that were read. */
  readonly facets: Facets;
  readonly runs: readonly ListedRow[];
  readonly next?: string;
  /** Matching runs on all pages. */
  readonly total: number;
  /** Records that are not in the full-text index yet. */
  readonly notIndexed: number;
  /** Runs that are not read yet and may match: ask again until it is 0. */
  readonly pending: number;
  /** Runs that are not read yet: the facets of patterns, tools and advice do not count them. */
  readonly notLookedAt: number;
}

/** Rows requested by id. */
export interface RowsAnswer {
  readonly rows: readonly ListedRow[];
}

/** A call and its first record. */
export interface EvidenceCall {
  /** From 1, in the order of the starts of calls. */
  readonly call: number;
  /** Of its `tool_started`, or of its result if the start was lost. */
  readonly seq: number;
}

export interface NumberedCall extends EvidenceCall {
  /** `unknown` until it has a result. */
  readonly kind: ToolKind;
}

/** The calls that began in a range of records. */
export interface CallsAnswer {
  readonly calls: readonly NumberedCall[];
  /** Records below it were read. */
  readonly upTo: number;
}

/** A pattern in a run. */
export interface PatternSpan {
  readonly kind: string;
  readonly identity: string;
  readonly level: PatternLevel;
  readonly stuck: boolean;
  readonly tool?: string;
  readonly occurrences: number;
  readonly fromSeq: number;
  readonly toSeq: number | null;
  /** The record that flagged it, or for a recomputed pattern the call at which it is flagged. */
  readonly flaggedSeq: number | null;
  /** Calls are numbered from 1. */
  readonly fromCall: number;
  /** The call at which the pattern was cleared; null if it was not. */
  readonly toCall: number | null;
  readonly flaggedCall: number | null;
  readonly evidence: readonly EvidenceCall[];
}

/** A piece of advice in a run. */
export interface AdviceMark {
  readonly seq: number;
  readonly adviceId: string;
  readonly speaker: 'feedback' | 'guidance';
  /** Its name. */
  readonly provider: string;
  /** Feedback only. */
  readonly severity?: Severity;
  readonly point?: DecisionPoint;
  /** At most 2,000 characters. */
  readonly text: string;
  /** The reason of the classification, or the observations; at most 500 characters. */
  readonly why?: string;
  readonly pattern?: { readonly identity: string; readonly level: PatternLevel };
  /** Null if unknown. */
  readonly delivered: boolean | null;
  readonly arm: AdviceArm;
  readonly reason?: string;
  readonly channel?: string;
  readonly callsBefore: number;
  readonly acknowledged?: 'accepted' | 'rejected' | 'noted';
  /** Calls of its pattern. */
  readonly evidence: readonly EvidenceCall[];
  /** Their records, in order. */
  readonly evidenceSeqs: readonly number[];
  /** True if the pattern was cleared later. */
  readonly isLeft: boolean;
  readonly nextCall: NextCall;
  /** The text of `fateText`: what followed, not why. */
  readonly fate: string;
}

/** Files named by calls, the most recent first. */
export interface FilesRow {
  readonly count: number;
  /** At most 20. */
  readonly latest: readonly string[];
}

/** A call that failed and has not succeeded since. */
export interface FailureRow {
  readonly call: number;
  readonly tool: string;
  readonly line: string;
}

/** The state of the run after a call returned. */
export interface RunState {
  /** From 1; 0 before the first. */
  readonly call: number;
  /** Unix milliseconds; 0 if unknown. */
  readonly atMs: number;
  readonly elapsedMs: number;
  readonly read: FilesRow;
  readonly written: FilesRow;
  /** The last result of each test, lint or build. */
  readonly checks: readonly { readonly command: string; readonly failed: boolean; readonly call: number }[];
  /** At most 20, the latest last. */
  readonly failures: readonly FailureRow[];
  readonly errorsInARow: number;
  /** From the model's answers up to this call; absent if unknown. */
  readonly tokens?: number;
  readonly costUsd?: number;
  /** Tokens read by the model's last answer. */
  readonly contextTokens?: number;
  /** Until the deadline; negative after it; absent without one. */
  readonly timeLeftMs?: number;
  /** The model request of this turn; absent if not recorded. */
  readonly request?: SeenRequest;
}

/** A model request. */
export interface SeenRequest {
  readonly modelId?: string;
  readonly messages: number;
  /** Characters of the instructions. */
  readonly systemChars: number;
  /** Tools offered. */
  readonly toolCount: number;
  /** Their names, at most 20. */
  readonly tools: readonly string[];
}

/** A pause of a minute or more before a record while no call was open. */
export interface IdleGap {
  readonly seq: number;
  readonly ms: number;
}

/** The timeline of a run: bucket `i` covers `seqsPerBucket` records from `i * seqsPerBucket` on. */
export interface Overview {
  /** Records below it are covered. */
  readonly nextSeq: number;
  /** False while the run is being read. */
  readonly complete: boolean;
  readonly seqsPerBucket: number;
  /** At most 2,000; the length of every list below. */
  readonly buckets: number;
  /** Unix milliseconds of the bucket's first record with a time; 0 if none. */
  readonly atMs: readonly number[];
  readonly turns: readonly number[];
  readonly calls: readonly number[];
  /** In the bucket in which the failed call began. */
  readonly errors: readonly number[];
  readonly messages: readonly number[];
  /** From the model's answers. */
  readonly tokens: readonly number[];
  readonly costUsd: readonly number[];
  /** Tokens read by the bucket's last answer; 0 if unknown. */
  readonly context: readonly number[];
  /** Unix milliseconds of the last record; 0 if unknown. */
  readonly endMs: number;
  /** In order, at most 500. */
  readonly gaps: readonly IdleGap[];
  /** Calls that began before the bucket. */
  readonly firstCall: readonly number[];
  readonly kinds: Readonly<Partial<Record<ToolKind, readonly number[]>>>;
  /** `recorded` by the run's steering, or `recomputed` with the default detectors for a run without steering. */
  readonly patternBasis: RunPatterns['basis'];
  /** By first call, at most 500. */
  readonly patterns: readonly PatternSpan[];
  readonly patternsLeftOut: number;
  /** Absent if the run was never stuck. */
  readonly wasted?: Wasted;
  /** At most 1,000. */
  readonly advice: readonly AdviceMark[];
  readonly adviceLeftOut: number;
}

/** One run. */
export interface RunAnswer {
  readonly run: ListedRow;
  /** By start time, at most 1,000. */
  readonly children: readonly ListedRow[];
  readonly parent?: ListedRow;
  readonly overview: Overview;
}

/** Replaces a value that is too long. */
export interface CutText {
  readonly $cut: { readonly chars: number; readonly preview: string };
}

/** Records of a run as stored, except that any value in a payload may be a `CutText`. */
export interface RecordsAnswer {
  readonly records: readonly TrajectoryRecord[];
  /** The start of the next request; above `lastSeq` at the end. */
  readonly nextSeq: number;
  /** Highest `seq` stored. */
  readonly lastSeq: number;
  /** The damage that prevents reading further. */
  readonly problem?: Problem;
}

export type FindKind = 'error' | 'pattern' | 'advice' | 'text';

export interface FindAnswer {
  readonly seq: number | null;
  /** Set if the search timed out: ask again from here. Otherwise a null `seq` means no match. */
  readonly resumeFrom?: number;
  /** The damage that ended the search. */
  readonly problem?: Problem;
}

/** The requested call; null if the run has no such call. */
export interface CallAnswer {
  readonly place: EvidenceCall | null;
}

/** A call in a comparison. */
export interface CallRow extends EvidenceCall {
  readonly tool: string;
  readonly kind: ToolKind;
  /** At most 200 characters. */
  readonly argsPreview: string;
  readonly failed: boolean;
  readonly errorLine?: string;
}

/** Two calls side by side, or one alone. Two with `same: false` have the same tool and other arguments. */
export interface CompareRow {
  readonly a?: CallRow;
  readonly b?: CallRow;
  readonly same: boolean;
}

export interface ComparedRunAnswer {
  readonly runId: string;
  readonly source: string;
  readonly calls: number;
}

export interface CompareAnswer {
  readonly a: ComparedRunAnswer;
  readonly b: ComparedRunAnswer;
  readonly rows: readonly CompareRow[];
  readonly next?: number;
  /** Number of rows. */
  readonly total: number;
  /** Index of the first row that differs; null if none. */
  readonly firstDivergence: number | null;
  /** Equal rows. */
  readonly same: number;
  /** True if a run has more calls than are compared. */
  readonly truncated: boolean;
}

export interface AlignedRun extends Pick<RunSummary, 'runId' | 'modelId' | 'outcome' | 'success'> {
  readonly source: string;
  /** Calls of the run, at most 20,000. */
  readonly total: number;
  readonly calls: readonly CallRow[];
}

/** Several runs side by side from about the first call that differs. */
export interface AlignedAnswer {
  /** Leading calls that are equal in all runs. */
  readonly same: number;
  /** Leading calls left out. */
  readonly from: number;
  readonly runs: readonly AlignedRun[];
}

/** The backtest reports given to the viewer. */
export interface ReportsAnswer {
  readonly reports: readonly {
    readonly id: string;
    readonly name: string;
    readonly path: string;
    readonly problem?: Problem;
  }[];
}

export type LabelRow = Label;

export interface LabelsAnswer {
  /** Null without a labels file; labelling is off then. */
  readonly file: string | null;
  readonly labels: readonly LabelRow[];
}
