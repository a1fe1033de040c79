import { passOver } from '../records/pass-over.ts';
import { hashText } from '../base/hash.ts';
import type { Mutable } from '../base/mutable.ts';
import { OpenCalls } from '../base/open-calls.ts';
import type { RunIdentified, TrajectoryPayload, TrajectoryRecord } from '../records/trajectory-record.ts';

/** A run as lists show it. `RunCounter` is the only code that counts: stores update the summary with it, and `RunView` uses it. */
export interface RunSummary {
  readonly runId: string;
  readonly parentRunId?: string;
  readonly depth: number;
  /** Unix milliseconds of the first and the last record with a time; 0 without any. */
  readonly startedAtMs: number;
  readonly lastAtMs: number;
  readonly records: number;
  /** Highest `seq`, including gap records. */
  readonly lastSeq: number;
  readonly turns: number;
  /** Started calls, and results whose start was lost (`OpenCalls`). */
  readonly calls: number;
  /** Failed results. */
  readonly errors: number;
  /** Keys of calls without a result, at most 512, so that later results can be joined. Absent with `problem`. */
  readonly openCalls?: readonly string[];
  /** `outcome` of the last `run_ended`; absent if the run is open, was resumed or has no end. */
  readonly outcome?: string;
  readonly success?: boolean;
  readonly reward?: number;
  /** The task's first 200 UTF-16 units, one fewer if the cut would split a character. */
  readonly task?: string;
  readonly source?: string;
  readonly format?: string;
  readonly modelId?: string;
  readonly agentName?: string;
  /** The host's id of the conversation. */
  readonly conversationId?: string;
  /** Set if the store cannot read the run to its end: the damage, in one line. The counts cover the records before it. */
  readonly problem?: string;
}

const TASK_PREVIEW_CHARS = 200;
/** Longer call ids are stored as a hash. */
const MAX_KEY_CHARS = 64;

/** The summary of a run after more records; `summary` is undefined for a new run. */
export function foldRunSummaries(summary: RunSummary | undefined, records: readonly TrajectoryRecord[]): RunSummary {
  const counter = new RunCounter(summary);
  for (const record of records) counter.fold(record);
  return counter.summary();
}

/** Counts one run. Cost: O(1) per record; memory for 512 open calls. */
export class RunCounter {
  #draft: Draft | undefined;
  readonly #open: OpenCalls<true>;

  /** @param summary  of the previous records */
  constructor(summary?: RunSummary) {
    this.#draft = summary === undefined ? undefined : { ...summary };
    this.#open = new OpenCalls(summary?.openCalls?.map((key) => [key, true]));
  }

  get calls(): number {
    return this.#draft?.calls ?? 0;
  }
  /** Unix milliseconds; 0 before the first record with a time. */
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

  /** Before the first record, the summary of a run without id. */
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

/** The summary of an unreadable run: without counts, with the problem. */
export function damagedSummary(runId: string, problem: string, startedAtMs = 0): RunSummary {
  const counts = { depth: 0, records: 0, lastSeq: -1, turns: 0, calls: 0, errors: 0 };
  return { runId, ...counts, startedAtMs, lastAtMs: startedAtMs, problem };
}
