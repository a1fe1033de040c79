import type { LastAct, RunVerdict } from '../../core/facts/run-verdict.ts';
import type { AdviceOutcome } from '../../core/facts/advice-outcome.ts';
import type { Label } from '../../lab/labels.ts';
import type { Severity, DecisionPoint } from '../../core/records/spoken-advice.ts';
import type { PatternLevel } from '../../core/records/trajectory-pattern.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { RunPatterns } from '../../core/facts/seen-pattern.ts';
import type { RunUsage } from '../../core/facts/usage-fold.ts';
import type { Lesson } from '../../core/facts/lessons.ts';
import type { StoryPattern, Wasted } from '../../core/facts/run-story.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import type { StoreKind } from '../../stores/store-address.ts';
import type { ToolKind } from '../../core/detect/calls/tool-kind.ts';

export interface Problem {
  /** A code of `CoxswainError`, or a code of the viewer such as `store-gone`. */
  readonly code: string;
  readonly message: string;
  readonly fix?: string;
}

export interface ErrorAnswer {
  readonly error: Problem;
}

export interface SourceRow {
  /** A short id without slashes. It does not change while the server runs. */
  readonly id: string;
  readonly name: string;
  readonly path: string;
  /** `sessions`: the session files of this user's agent programs. */
  readonly kind: StoreKind | 'files' | 'sessions';
  readonly runs: number;
  /** True if the source has more runs than the newest 100,000, which are listed. */
  readonly truncated?: true;
  readonly indexing?: { readonly files: number; readonly done: number };
  readonly problem?: Problem;
}

/** A cause that still fails in several sessions of a project, as `coxswain failures` lists it. */
export interface FailingCause extends Pick<Lesson, 'name' | 'cause' | 'sessions' | 'calls'> {
  /** Absent if it is not known. */
  readonly costUsd?: number;
  /** What worked after it. */
  readonly worked?: string;
  /** A call that failed, in a listed run. `call`: 1-based. */
  readonly example?: { readonly source: string; readonly runId: string; readonly call: number };
}

export interface FailingAnswer {
  /** Those that cost the most calls, at most three. */
  readonly causes: readonly FailingCause[];
  readonly leftOut: number;
}

export interface SourcesAnswer {
  readonly sources: readonly SourceRow[];
}

/** Facts about a run that can only be computed from its records. */
export interface RunExtras extends RunUsage, Omit<RunVerdict, 'answer' | 'why'> {
  /** Kinds of the patterns flagged at `warn` or above. Each kind is listed once; at most eight. */
  readonly patterns: readonly string[];
  /** For each entry of `patterns`, the call after which it was first flagged. */
  readonly patternCalls: readonly number[];
  readonly wasted?: Wasted;
  /** For a run that may be at work. After a long silence, its row has the verdict that follows from it. */
  readonly lastAct?: LastAct;
  /** The beginning of the agent's last answer, at most 160 characters. */
  readonly lastWords?: string;
  /** Number of files that calls changed, at most 50, and the names of the first three. */
  readonly changed?: { readonly count: number; readonly names: readonly string[] };
  /** The last failed test, lint or build command that did not pass later, else the last one. */
  readonly check?: { readonly command: string; readonly failed: boolean };
  /** For a run that may be at work: that its context is nearly full, or that it spends faster than sessions do. */
  readonly pressure?: string;
  /** The most frequent error line, with masked numbers, and how often it occurs. Absent without error lines. */
  readonly errorLine?: readonly [string, number];
  /** For a task that `RunSummary` cuts: a hash of the whole text, and its next 200 characters. */
  readonly longTask?: { readonly key: string; readonly rest: string };
  /** The name of the session, else the title of a task that `RunSummary` does not tell. */
  readonly name?: string;
  readonly stuck: boolean;
  /** Absent if no such pattern is open at the end of its records. */
  readonly stuckNow?: true;
  /** Absent unless its answer ends with a question. */
  readonly asks?: true;
  readonly adviceCount: number;
  /** Amount of advice without a record of delivery: withheld, shadowed, or not delivered. */
  readonly adviceUnsaid: number;
}

export interface FoundPlace {
  readonly seq: number;
  /** At most 200 characters around the first matching word. */
  readonly snippet: string;
}

export interface ListedRow extends Omit<RunSummary, 'source' | 'openCalls'>, Partial<RunExtras> {
  readonly source: string;
  /** The name of the session, else the title of the task, as `titlesOf` gives it, or the id of a run without a task. */
  readonly title: string;
  /** The origin of an imported run, as `path#id`. */
  readonly from?: string;
  readonly extras: boolean;
  readonly childCount: number;
  /** For a search: the first record that contains the words. Absent if the run's id or task contains them. */
  readonly found?: FoundPlace;
  /** True if the run has no outcome and its last record is at most two minutes old. */
  readonly live: boolean;
  readonly group: RunGroup;
  readonly pendingCalls: number;
}

/** `needs`: it waits, is silent, was cut off, is stuck or left a failing check. */
export type RunGroup = 'needs' | 'running' | 'done';

/** The values of each filter with their number of runs, most frequent first. */
export type Facets = Readonly<
  Record<'project' | 'status' | 'model' | 'agent' | 'task' | 'pattern', readonly (readonly [string, number])[]>
>;

export interface RunsAnswer {
  /** Grows with each change of a run in a source. */
  readonly version: number;
  readonly facets: Facets;
  readonly runs: readonly ListedRow[];
  readonly next?: string;
  readonly total: number;
  readonly groups: Readonly<Record<RunGroup, number>>;
  readonly costUsd: number;
  /** True if the cost of a run is at least its share of `costUsd`. */
  readonly isLeast: boolean;
  /** Number of the runs whose cost is unknown, or known in part. */
  readonly withoutPrice: number;
  /** Number of the runs that cannot be read to their end. */
  readonly damaged: number;
  /** Number of records that are not in the full-text index yet. */
  readonly notIndexed: number;
  /** Number of runs that have not been read yet and may match. Repeat the request until it is 0. */
  readonly pending: number;
  /** Number of runs that have not been read yet. Neither the cost nor the facet of patterns counts them. */
  readonly notLookedAt: number;
}

/** The first event of the list's stream: it sends the changes after this version. */
export type FeedStart = Pick<RunsAnswer, 'version'>;

export interface RowsAnswer {
  readonly rows: readonly ListedRow[];
}

export interface EvidenceCall {
  /** 1-based number of the call, in the order in which calls started. */
  readonly call: number;
  /** The `seq` of the call's `tool_started` record, or of its result if that record is missing. */
  readonly seq: number;
}

/** How a row of the conversation is displayed. `result` is a result whose call was lost. */
export type RowKind =
  | 'prompt'
  | 'system'
  | 'answer'
  | 'thinking'
  | 'call'
  | 'result'
  | 'advice'
  | 'pattern'
  | 'event'
  | 'fault';

/** A row of the conversation. Its text is in the records at `seq` and `end`. */
export interface RunRow {
  readonly seq: number;
  readonly kind: RowKind;
  /** The record of the call's result. Absent until the call returns. */
  readonly end?: number;
  readonly call?: number;
  readonly tool?: ToolKind;
  readonly failed?: true;
  readonly failure?: string;
  /** The first of the calls before it that had the same arguments and the same result. */
  readonly same?: number;
  readonly target?: string;
  /** Cost in US dollars of the response that begins with this row. */
  readonly costUsd?: number;
}

export interface RunRowsAnswer {
  readonly rows: readonly RunRow[];
  /** Records with a `seq` below this value have been read. */
  readonly upTo: number;
}

export interface PatternSpan extends StoryPattern {
  readonly identity: string;
  readonly level: PatternLevel;
  readonly tool?: string;
  readonly toSeq: number | null;
  /** The record that flagged the pattern. For a recomputed pattern, the call at which it is flagged. */
  readonly flaggedSeq: number | null;
  readonly evidence: readonly EvidenceCall[];
}

/** How a call compares with the last call before an advice text. */
export type CallMark = 'same-failure' | 'other-failure' | 'no-failure';

/** At most four calls before an advice text, and at most four after it, in order. */
export interface CallsAround {
  readonly before: readonly CallMark[];
  readonly after: readonly CallMark[];
}

export interface AdviceMark extends Pick<
  AdviceOutcome,
  'seq' | 'adviceId' | 'speaker' | 'text' | 'delivery' | 'reason' | 'callsBefore' | 'nextCall'
> {
  readonly provider: string;
  readonly severity?: Severity;
  readonly point?: DecisionPoint;
  readonly why?: string;
  readonly pattern?: { readonly identity: string; readonly level: PatternLevel };
  /** Null if unknown. */
  readonly delivered: boolean | null;
  readonly channel?: string;
  readonly acknowledged?: AdviceOutcome['response'];
  readonly evidence: readonly EvidenceCall[];
  readonly isLeft: boolean;
  readonly around: CallsAround;
  readonly fate: string;
}

/** What was known after a call, as the lines of each fact. */
export interface RunState {
  /** 1-based number of the call, or 0 before the first call. */
  readonly call: number;
  readonly facts: readonly (readonly [name: string, lines: readonly string[]])[];
}

export interface LastAnswer {
  readonly seq: number;
  readonly text: string;
}

export interface ChangedFile {
  readonly path: string;
  readonly firstEdit: EvidenceCall;
  readonly firstFailure?: EvidenceCall;
}

export interface CheckMark extends EvidenceCall {
  readonly command: string;
  readonly failed: boolean;
}

export interface Prompt {
  readonly seq: number;
  /** At most 120 characters. */
  readonly text: string;
}

/** The timeline of a run. Bucket `i` covers `seqsPerBucket` records, starting at `i * seqsPerBucket`. */
export interface Overview {
  /** Records with a `seq` below this value are covered. */
  readonly nextSeq: number;
  readonly complete: boolean;
  /** Patterns, advice, files and checks are those before this `seq`. A first look at a long run has none of them. */
  readonly checkedSeq: number;
  /** The usage that a first look counts. Later it is in the row of the run. */
  readonly usage?: RunUsage;
  readonly seqsPerBucket: number;
  /** Number of buckets, at most 2,000. Every list below has this length. */
  readonly buckets: number;
  /** The time of the bucket's first record that has one, in Unix milliseconds. It is 0 if none has. */
  readonly atMs: readonly number[];
  readonly calls: readonly number[];
  /** Failed calls per bucket. A failed call counts in the bucket in which it started. */
  readonly errors: readonly number[];
  /** Tokens from the model's responses, cached tokens included. */
  readonly tokens: readonly number[];
  readonly costUsd: readonly number[];
  readonly firstCall: readonly number[];
  readonly lastAnswer?: LastAnswer;
  readonly prompts: readonly Prompt[];
  readonly files: readonly ChangedFile[];
  readonly lastCheck?: CheckMark;
  /** `recomputed`: the run has no steering, so the default detectors found the patterns. */
  readonly patternBasis: RunPatterns['basis'];
  readonly patterns: readonly PatternSpan[];
  readonly patternsLeftOut: number;
  readonly wasted?: Wasted;
  readonly advice: readonly AdviceMark[];
  readonly adviceLeftOut: number;
}

export interface RunAnswer {
  readonly run: ListedRow;
  readonly children: readonly ListedRow[];
  readonly parent?: ListedRow;
  readonly overview: Overview;
  /** There is no other run to compare it with. */
  readonly isAlone?: true;
}

export interface CutText {
  readonly $cut: { readonly chars: number; readonly preview: string };
}

/** Records of a run as stored, except that any value in a payload may be a `CutText`. */
export interface RecordsAnswer {
  readonly records: readonly TrajectoryRecord[];
  /** The `seq` at which the next request starts. After the last record, it is greater than `lastSeq`. */
  readonly nextSeq: number;
  readonly lastSeq: number;
  readonly problem?: Problem;
}

export interface FindAnswer {
  readonly seq: number | null;
  /** Present if the search timed out: repeat the request with this `seq`. Otherwise a null `seq` means that nothing matched. */
  readonly resumeFrom?: number;
  readonly problem?: Problem;
}

export interface CallRow extends EvidenceCall {
  readonly tool: string;
  readonly kind: ToolKind;
  readonly argsPreview: string;
  readonly failed: boolean;
  readonly errorLine?: string;
}

/** Two calls side by side, or one call without a partner. Two calls with `same: false` use the same tool with different arguments. */
export interface CompareRow {
  readonly a?: CallRow;
  readonly b?: CallRow;
  readonly same: boolean;
}

export interface CompareAnswer {
  readonly a: ListedRow;
  readonly b: ListedRow;
  readonly rows: readonly CompareRow[];
  /** True if a run has more calls than the comparison covers. */
  readonly truncated: boolean;
}

export interface LabelsAnswer {
  readonly file: string;
  readonly labels: readonly Label[];
}

export interface TaskGroup {
  /** The task, or the kind of the pattern. */
  readonly task: string;
  readonly title: string;
  readonly runs: number;
  /** Number of runs that worked or failed, whoever says so. */
  readonly judged: number;
  readonly succeeded: number;
  readonly stuck: number;
  readonly medianCalls: number;
  readonly wastedCalls: number;
  readonly costUsd?: number;
  /** At most 24 runs, successful ones first. */
  readonly named: readonly { readonly source: string; readonly runId: string }[];
}

/** The matching runs grouped by task. At most the first 500 tasks of the requested order, by default those with the most runs. */
export interface TasksAnswer {
  readonly tasks: readonly TaskGroup[];
  /** Number of tasks beyond the first 500. */
  readonly leftOut: number;
  readonly pending: number;
}
