import { passOver } from '../records/pass-over.ts';
import { hashText } from '../base/hash.ts';
import type { Mutable } from '../base/mutable.ts';
import { OpenCalls } from '../base/open-calls.ts';
import type { RunIdentified, TrajectoryPayload, TrajectoryRecord } from '../records/trajectory-record.ts';

/**
 * What a list of runs shows of one run. `RunCounter` is the only code that counts: every store keeps the summary up to date with it
 * as records arrive, and `RunView` counts with it whatever is read.
 */
export interface RunSummary {
  readonly runId: string;
  readonly parentRunId?: string;
  readonly depth: number;
  /** Unix milliseconds of the first and the last record that had a time; 0 where none had. */
  readonly startedAtMs: number;
  readonly lastAtMs: number;
  readonly records: number;
  /** Highest `seq` that is filled, also by a gap record. */
  readonly lastSeq: number;
  readonly turns: number;
  /** Calls that began, and results whose start was lost (`OpenCalls`). */
  readonly calls: number;
  /** Results that are failures. */
  readonly errors: number;
  /**
   * Calls without a result so far, by `callKey`, so that later results can be joined to them; 512 at most. Absent
   * with `problem`.
   */
  readonly openCalls?: readonly string[];
  /** `outcome` of the last `run_ended`, unless the run was resumed since; absent while the run is open or was cut off. */
  readonly outcome?: string;
  readonly success?: boolean;
  readonly reward?: number;
  /** The task's first 200 UTF-16 units, one fewer where the cut would split a character. */
  readonly task?: string;
  readonly source?: string;
  readonly format?: string;
  readonly modelId?: string;
  readonly agentName?: string;
  /** The host's own name for the conversation. */
  readonly conversationId?: string;
  /**
   * Set when the store cannot read the run to its end: what is wrong and where, in one line. The counts then
   * cover the records before that place.
   */
  readonly problem?: string;
}

const TASK_PREVIEW_CHARS = 200;
/** Longer call ids are kept as their hash. */
const MAX_KEY_CHARS = 64;

/** The summary of a run after some more records, in order; `summary` is undefined before the first one. */
export function foldRunSummaries(summary: RunSummary | undefined, records: readonly TrajectoryRecord[]): RunSummary {
  const counter = new RunCounter(summary);
  for (const record of records) counter.fold(record);
  return counter.summary();
}

/**
 * Counts one run. Cost: O(1) a record; memory for 512 open calls.
 */
export class RunCounter {
  #draft: Draft | undefined;
  readonly #open: OpenCalls<true>;

  /** @param summary  what was counted before; default: nothing */
  constructor(summary?: RunSummary) {
    this.#draft = summary === undefined ? undefined : { ...summary };
    this.#open = new OpenCalls(summary?.openCalls?.map((key) => [key, true]));
  }

  get calls(): number {
    return this.#draft?.calls ?? 0;
  }
  /** Unix milliseconds; 0 before a record that has a time. */
  get lastAtMs(): number {
    return this.#draft?.lastAtMs ?? 0;
  }

  fold(record: TrajectoryRecord): void {
    const at = record.recorded_at_unix_ms;
    const draft = (this.#draft ??= newSummary(record));
    if (draft.startedAtMs === 0) draft.startedAtMs = at;
    if (at > draft.lastAtMs) draft.lastAtMs = at;
    draft.records += 1;
    draft.lastSeq = lastSeqOf(record);
    this.#count(draft, record.payload);
  }

  /** What was counted; before the first record, the summary of a run without id. */
  summary(): RunSummary {
    const draft = this.#draft ?? newSummary(undefined);
    return { ...draft, openCalls: this.#open.entries().map(([key]) => key) };
  }

  #count(draft: Draft, payload: TrajectoryPayload): void {
    switch (payload.kind) {
      case 'run_started':
        if (payload.task !== undefined) draft.task = previewOf(payload.task);
        if (payload.source !== undefined) draft.source = payload.source;
        if (payload.format !== undefined) draft.format = payload.format;
        identify(draft, payload.identity);
        return;
      case 'run_identified':
        identify(draft, payload);
        return;
      case 'turn_started':
        draft.turns += 1;
        return;
      case 'tool_started':
        draft.calls += 1;
        this.#open.begin(callKey(payload.tool_call_id), true);
        return;
      case 'tool_ended':
        if (this.#open.end(callKey(payload.tool_call_id)) === undefined) draft.calls += 1;
        if (payload.is_error) draft.errors += 1;
        return;
      case 'run_ended':
        forgetEnd(draft);
        draft.outcome = payload.outcome;
        if (payload.success !== undefined) draft.success = payload.success;
        if (payload.reward !== undefined) draft.reward = payload.reward;
        return;
      case 'run_resumed':
        forgetEnd(draft);
        return;
      default:
        passOver<'talk' | 'requests' | 'host' | 'patterns' | 'produced' | 'delivered' | 'asked' | 'faults' | 'unread'>(
          payload,
        );
    }
  }
}

function callKey(id: string): string {
  return id.length <= MAX_KEY_CHARS ? id : hashText(id);
}

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
    openCalls: [],
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

function identify(draft: Draft, known: Omit<RunIdentified, 'kind'>): void {
  const { agent_name: agentName, conversation_id: conversationId, model_id: modelId } = known;
  if (modelId !== undefined) draft.modelId = modelId;
  if (agentName !== undefined) draft.agentName = agentName;
  if (conversationId !== undefined) draft.conversationId = conversationId;
}

function forgetEnd(draft: Draft): void {
  delete draft.outcome;
  delete draft.success;
  delete draft.reward;
}

/** Stands in for the summary of a run that cannot be read: it counts nothing and names the problem. */
export function damagedSummary(runId: string, problem: string, startedAtMs = 0): RunSummary {
  const counts = { depth: 0, records: 0, lastSeq: -1, turns: 0, calls: 0, errors: 0 };
  return { runId, ...counts, startedAtMs, lastAtMs: startedAtMs, problem };
}
