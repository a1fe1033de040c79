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

/** What went wrong. */
export interface Problem {
  /** A code of `CoxswainError`, or one of the viewer's own, such as `store-gone`. */
  readonly code: string;
  readonly message: string;
  /** What to do about it, where something can be done. */
  readonly fix?: string;
}

/** Every answer that is not a success. */
export interface ErrorAnswer {
  readonly error: Problem;
}

/** A store or files that the viewer was started with. */
export interface SourceRow {
  /** Short, without slashes; the same as long as the server runs. */
  readonly id: string;
  /** The last part of the path. */
  readonly name: string;
  readonly path: string;
  readonly kind: StoreKind | 'files';
  readonly writable: boolean;
  /** Runs known so far. */
  readonly runs: number;
  /** Set when there are more runs than are listed: the newest 100,000 are. */
  readonly truncated?: true;
  /** Set while files are read. */
  readonly indexing?: { readonly files: number; readonly done: number };
  readonly problem?: Problem;
}

/** All that the viewer was started with. */
export interface SourcesAnswer {
  readonly sources: readonly SourceRow[];
}

/** What a run went on to spend after its first warning. */
export interface Wasted {
  /** The call after which a pattern that says stuck was first flagged. */
  readonly call: number;
  /** Calls that came after it. */
  readonly calls: number;
  readonly ms: number;
  /** Absent where no answer of the model says. */
  readonly tokens?: number;
  readonly costUsd?: number;
}

/** What is known of a run once its records were read. */
export interface RunExtras {
  /** Kinds of the patterns from `warn` up, each once, at most eight. */
  readonly patterns: readonly string[];
  /** For each of them, the call after which it was first flagged. */
  readonly patternCalls: readonly number[];
  /** Absent in a run that was never stuck. */
  readonly wasted?: Wasted;
  readonly verdict: RunVerdict['verdict'];
  /** Pieces of advice by what became of them and the call that followed: `delivered repeated`. */
  readonly fates: Readonly<Record<string, number>>;
  /** Calls after which advice was produced, at most eight. */
  readonly adviceCalls: readonly number[];
  /** The line that most calls failed with, without its numbers, and how many did; absent where no call failed with a line. */
  readonly errorLine?: readonly [string, number];
  /** True when one of them says stuck. */
  readonly stuck: boolean;
  /** All advice that was produced. */
  readonly adviceCount: number;
  /** Of it, what did not reach the agent as far as records say: withheld, shadowed, not delivered, or without a delivery record. */
  readonly adviceUnsaid: number;
  /** As the answers of the model say; absent where none does. */
  readonly costUsd?: number;
  readonly tokens?: number;
  /** At most 60 characters, one a bucket of calls: `.` fine, `x` error, `!` in a stuck pattern, `a` advice said. */
  readonly strip: string;
  /** Names of tools that were called, at most 64, each of at most 100 characters. */
  readonly tools: readonly string[];
}

/** Where words were found in a run. */
export interface FoundPlace {
  readonly seq: number;
  /** At most 200 characters around the first word. */
  readonly snippet: string;
}

/** A run in a list. The members of `RunExtras` are there when `extras` is true. */
export interface ListedRow extends Omit<RunSummary, 'source' | 'openCalls'>, Partial<RunExtras> {
  /** Of `SourceRow`. */
  readonly source: string;
  /** Where an imported run came from: `path#id`. */
  readonly from?: string;
  readonly extras: boolean;
  readonly childCount: number;
  /** In a search: the first record that holds the words; absent where the id or the task does. */
  readonly found?: FoundPlace;
  /** Without an outcome, and at work in the last two minutes. */
  readonly live: boolean;
}

/** For each filter its values and how many runs have them, most first. */
export type Facets = Readonly<
  Record<
    'status' | 'outcome' | 'model' | 'agent' | 'task' | 'tool' | 'pattern' | 'advice',
    readonly (readonly [string, number])[]
  >
>;

/** A page of runs. */
export interface RunsAnswer {
  /** Counted over the runs that were looked at. */
  readonly facets: Facets;
  readonly runs: readonly ListedRow[];
  readonly next?: string;
  /** Runs that match, on all pages. */
  readonly total: number;
  /** Records that full-text search does not know yet. */
  readonly notIndexed: number;
  /** Runs that may match too, once they have been looked at: ask again while it is not 0. */
  readonly pending: number;
  /** Runs that were not looked at yet: the facets of patterns, tools and advice do not count them. */
  readonly notLookedAt: number;
}

/** Rows that were asked for by name. */
export interface RowsAnswer {
  readonly rows: readonly ListedRow[];
}

/** A call and the record that began it. */
export interface EvidenceCall {
  /** From 1, in the order in which calls began. */
  readonly call: number;
  /** Of its `tool_started`; where that was lost, of its result. */
  readonly seq: number;
}

/** A call of a stretch of records. */
export interface NumberedCall extends EvidenceCall {
  /** `unknown` while it has no result. */
  readonly kind: ToolKind;
}

/** The calls that a stretch of records began. */
export interface CallsAnswer {
  readonly calls: readonly NumberedCall[];
  /** Calls of records below it are there; the rest is still being read. */
  readonly upTo: number;
}

/** Where a pattern lies in a run. */
export interface PatternSpan {
  readonly kind: string;
  readonly identity: string;
  readonly level: PatternLevel;
  readonly stuck: boolean;
  readonly tool?: string;
  readonly occurrences: number;
  readonly fromSeq: number;
  readonly toSeq: number | null;
  /** The record that flagged it; where none did, the call at which it would have been. */
  readonly flaggedSeq: number | null;
  /** Calls are numbered from 1. */
  readonly fromCall: number;
  /** The call at which the agent had left it; null while it has not. */
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
  /** Of feedback. */
  readonly severity?: Severity;
  readonly point?: DecisionPoint;
  /** At most 2,000 characters. */
  readonly text: string;
  /** The classification's reason, or what was observed; at most 500 characters. */
  readonly why?: string;
  readonly pattern?: { readonly identity: string; readonly level: PatternLevel };
  /** Null where nobody said. */
  readonly delivered: boolean | null;
  readonly arm: AdviceArm;
  readonly reason?: string;
  readonly channel?: string;
  readonly callsBefore: number;
  readonly acknowledged?: 'accepted' | 'rejected' | 'noted';
  /** Calls of the pattern that it rests on. */
  readonly evidence: readonly EvidenceCall[];
  /** Their records, in order. */
  readonly evidenceSeqs: readonly number[];
  /** The pattern was left, however late. */
  readonly isLeft: boolean;
  readonly nextCall: NextCall;
  /** What followed, not why, as `fateText` says it. */
  readonly fate: string;
}

/** Files that calls named, by how lately. */
export interface FilesRow {
  readonly count: number;
  /** At most 20. */
  readonly latest: readonly string[];
}

/** A call that failed and did not succeed since. */
export interface FailureRow {
  readonly call: number;
  readonly tool: string;
  readonly line: string;
}

/** What the agent's world was like when a call had come back. */
export interface RunState {
  /** From 1; 0 before the first. */
  readonly call: number;
  /** Unix milliseconds; 0 where records have no time. */
  readonly atMs: number;
  readonly elapsedMs: number;
  readonly read: FilesRow;
  readonly written: FilesRow;
  /** The last result of each test, lint or build. */
  readonly checks: readonly { readonly command: string; readonly failed: boolean; readonly call: number }[];
  /** At most 20, the latest last. */
  readonly failures: readonly FailureRow[];
  readonly errorsInARow: number;
  /** As the answers of the model say, up to there; absent where none does. */
  readonly tokens?: number;
  readonly costUsd?: number;
  /** What the model's last answer read. */
  readonly contextTokens?: number;
  /** Until the deadline; below 0 after it; absent without one. */
  readonly timeLeftMs?: number;
  /** What the model saw in this turn; absent where no request is on record. */
  readonly request?: SeenRequest;
}

/** A request as the model got it. */
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

/** A minute or more before a record in which nothing happened and no call was open. */
export interface IdleGap {
  readonly seq: number;
  readonly ms: number;
}

/** A run from far away: bucket `i` covers the records from `i * seqsPerBucket` up to the next bucket's. */
export interface Overview {
  /** Records below it are covered. */
  readonly nextSeq: number;
  /** False while a long run is still being read. */
  readonly complete: boolean;
  readonly seqsPerBucket: number;
  /** At most 2,000; the length of every list below. */
  readonly buckets: number;
  /** Unix milliseconds of the bucket's first record with a time; 0 where none has. */
  readonly atMs: readonly number[];
  readonly turns: readonly number[];
  readonly calls: readonly number[];
  /** By the bucket in which the failed call began. */
  readonly errors: readonly number[];
  readonly messages: readonly number[];
  /** Of the model's answers, as they say. */
  readonly tokens: readonly number[];
  readonly costUsd: readonly number[];
  /** What the last answer of the bucket read; 0 where none says. */
  readonly context: readonly number[];
  /** Unix milliseconds of the last record; 0 where none has a time. */
  readonly endMs: number;
  /** In the order of the run, at most 500. */
  readonly gaps: readonly IdleGap[];
  /** Calls that had begun before the bucket. */
  readonly firstCall: readonly number[];
  readonly kinds: Readonly<Partial<Record<ToolKind, readonly number[]>>>;
  /** `recorded` by the run's own steering, or `recomputed` by the default detectors for a run without steering. */
  readonly patternBasis: RunPatterns['basis'];
  /** By their first call, at most 500. */
  readonly patterns: readonly PatternSpan[];
  readonly patternsLeftOut: number;
  /** What came after the first warning; absent where there was none. */
  readonly wasted?: Wasted;
  /** At most 1,000. */
  readonly advice: readonly AdviceMark[];
  readonly adviceLeftOut: number;
}

/** One run. */
export interface RunAnswer {
  readonly run: ListedRow;
  /** By their start, at most 1,000. */
  readonly children: readonly ListedRow[];
  readonly parent?: ListedRow;
  readonly overview: Overview;
}

/** What stands in the place of a value that is too long. */
export interface CutText {
  readonly $cut: { readonly chars: number; readonly preview: string };
}

/** Records of a run as they are stored; in the place of any value in a payload there may be a `CutText`. */
export interface RecordsAnswer {
  readonly records: readonly TrajectoryRecord[];
  /** Where to go on; above `lastSeq` at the end. */
  readonly nextSeq: number;
  /** Highest `seq` stored. */
  readonly lastSeq: number;
  /** Why no more of them can be read. */
  readonly problem?: Problem;
}

/** What can be looked for in a run. */
export type FindKind = 'error' | 'pattern' | 'advice' | 'text';

/** Where something was found. */
export interface FindAnswer {
  readonly seq: number | null;
  /** Set when the time was up before the end of the run: ask again from here. Without it, null means that nothing is there. */
  readonly resumeFrom?: number;
  /** The damage that ended the search before the end of the run. */
  readonly problem?: Problem;
}

/** The call that was asked for; null where the run has none there. */
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

/** Two calls side by side, or one alone. With both, `same: false` is the same tool with other arguments. */
export interface CompareRow {
  readonly a?: CallRow;
  readonly b?: CallRow;
  readonly same: boolean;
}

/** One side of a comparison. */
export interface ComparedRunAnswer {
  readonly runId: string;
  readonly source: string;
  readonly calls: number;
}

/** Two runs, aligned. */
export interface CompareAnswer {
  readonly a: ComparedRunAnswer;
  readonly b: ComparedRunAnswer;
  readonly rows: readonly CompareRow[];
  readonly next?: number;
  /** Rows. */
  readonly total: number;
  /** Index of the first row that is not the same; null where all are. */
  readonly firstDivergence: number | null;
  /** Rows that are the same. */
  readonly same: number;
  /** Set when a run has more calls than are compared. */
  readonly truncated: boolean;
}

/** One of several runs side by side. */
export interface AlignedRun extends Pick<RunSummary, 'runId' | 'modelId' | 'outcome' | 'success'> {
  readonly source: string;
  /** Calls of the whole run. */
  readonly total: number;
  readonly calls: readonly CallRow[];
}

/** Several runs from about the first call in which they differ. */
export interface AlignedAnswer {
  /** Calls at the beginning that are the same in all of them. */
  readonly same: number;
  /** Calls left out at the beginning of each list. */
  readonly from: number;
  readonly runs: readonly AlignedRun[];
}

/** The backtest reports that the viewer was given. */
export interface ReportsAnswer {
  readonly reports: readonly {
    readonly id: string;
    readonly name: string;
    readonly path: string;
    readonly problem?: Problem;
  }[];
}

/** A line of the labels file. */
export type LabelRow = Label;

/** The labels file, and what stands in it. */
export interface LabelsAnswer {
  /** Null where none was given: nothing can be labelled then. */
  readonly file: string | null;
  readonly labels: readonly LabelRow[];
}
