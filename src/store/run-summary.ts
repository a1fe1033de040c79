import type { Mutable } from '../base/mutable.ts';
import type { TrajectoryRecord } from '../events/trajectory-record.ts';

/** What a list of runs shows of one run, kept up to date by every store as records arrive. */
export interface RunSummary {
  readonly runId: string;
  readonly parentRunId?: string;
  readonly depth: number;
  /** Unix milliseconds of the first and the last record that had a time; 0 where none had. */
  readonly startedAtMs: number;
  readonly lastAtMs: number;
  /** Records stored. */
  readonly records: number;
  /** Highest `seq` that is filled, also by a gap record. */
  readonly lastSeq: number;
  readonly turns: number;
  readonly calls: number;
  readonly errors: number;
  /** `outcome` of the run's `run_ended`; absent while the run is open or was cut off. */
  readonly outcome?: string;
  readonly success?: boolean;
  readonly reward?: number;
  /** The task's first 200 UTF-16 units, one fewer where the cut would split a character. */
  readonly task?: string;
  readonly source?: string;
  readonly format?: string;
  readonly modelId?: string;
  /**
   * Set when the store cannot read the run to its end: what is wrong and where, in one line. The counts then
   * cover the records before that place.
   */
  readonly problem?: string;
}

const TASK_PREVIEW_CHARS = 200;

/**
 * Folds one record into its run's summary. Pure; the first record of a run comes with `summary` undefined.
 *
 * @param record  has a `run_id`
 */
export function foldRunSummary(summary: RunSummary | undefined, record: TrajectoryRecord): RunSummary {
  return foldRunSummaries(summary, [record]);
}

/**
 * The same for several records of a run, in order; at least one where `summary` is undefined. Cost: one copy of the summary.
 */
export function foldRunSummaries(summary: RunSummary | undefined, records: readonly TrajectoryRecord[]): RunSummary {
  const [first] = records;
  const draft: Draft = summary === undefined ? newSummary(first) : { ...summary };
  for (const record of records) {
    const at = record.recorded_at_unix_ms;
    if (draft.startedAtMs === 0) draft.startedAtMs = at;
    if (at > draft.lastAtMs) draft.lastAtMs = at;
    draft.records += 1;
    draft.lastSeq = lastSeqOf(record);
    foldPayload(draft, record);
  }
  return draft;
}

/** What some records of a run, one after the other, say for its summary. Plain data. */
export interface RunPart {
  /** Of these records alone. */
  readonly summary: RunSummary;
  /** True when one of them says that the run goes on, so that what its end had said holds no longer. */
  readonly isResumed: boolean;
}

/** @param records  at least one */
export function partOf(records: readonly TrajectoryRecord[]): RunPart {
  const isResumed = records.some(({ payload }) => payload.kind === 'run_resumed');
  return { summary: foldRunSummaries(undefined, records), isResumed };
}

/** The summary of a run with one more part: what folding all its records gives. */
export function joinPart(before: RunSummary | undefined, { summary: part, isResumed }: RunPart): RunSummary {
  if (before === undefined) return part;
  const joined: Draft = { ...before };
  if (isResumed) forgetEnd(joined);
  const { runId: _runId, parentRunId: _parentRunId, depth: _depth, ...said } = part;
  return Object.assign(joined, said, {
    startedAtMs: before.startedAtMs === 0 ? part.startedAtMs : before.startedAtMs,
    lastAtMs: Math.max(before.lastAtMs, part.lastAtMs),
    records: before.records + part.records,
    turns: before.turns + part.turns,
    calls: before.calls + part.calls,
    errors: before.errors + part.errors,
  });
}

/** A summary while it is worked out. */
type Draft = Mutable<RunSummary>;

function newSummary(first: TrajectoryRecord | undefined): Draft {
  const at = first?.recorded_at_unix_ms ?? 0;
  return {
    runId: first?.run_id ?? '',
    ...(first?.parent_run_id === undefined ? {} : { parentRunId: first.parent_run_id }),
    depth: first?.depth ?? 0,
    startedAtMs: at,
    lastAtMs: at,
    records: 0,
    lastSeq: -1,
    turns: 0,
    calls: 0,
    errors: 0,
  };
}

/** The last `seq` a record fills: its own, or `through_seq` of a gap. */
export function lastSeqOf(record: TrajectoryRecord): number {
  return record.payload.kind === 'gap' ? Math.max(record.seq, record.payload.through_seq) : record.seq;
}

function previewOf(task: string): string {
  const cut = task.slice(0, TASK_PREVIEW_CHARS);
  const splitsPair =
    cut.length < task.length &&
    !cut.slice(-1).isWellFormed() &&
    task.slice(cut.length - 1, cut.length + 1).isWellFormed();
  return splitsPair ? cut.slice(0, -1) : cut;
}

function foldPayload(draft: Draft, { payload }: TrajectoryRecord): void {
  switch (payload.kind) {
    case 'run_started':
      if (payload.task !== undefined) draft.task = previewOf(payload.task);
      if (payload.source !== undefined) draft.source = payload.source;
      if (payload.format !== undefined) draft.format = payload.format;
      if (payload.identity.model_id !== undefined) draft.modelId = payload.identity.model_id;
      return;
    case 'turn_started':
      draft.turns += 1;
      return;
    case 'tool_started':
      draft.calls += 1;
      return;
    case 'tool_ended':
      if (payload.is_error) draft.errors += 1;
      return;
    case 'run_ended':
      draft.outcome = payload.outcome;
      if (payload.success !== undefined) draft.success = payload.success;
      if (payload.reward !== undefined) draft.reward = payload.reward;
      return;
    case 'run_resumed':
      forgetEnd(draft);
      return;
    default:
  }
}

function forgetEnd(draft: Draft): void {
  delete draft.outcome;
  delete draft.success;
  delete draft.reward;
}
