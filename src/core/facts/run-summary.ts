import { outcomeOf, type RunIdentified, type TrajectoryRecord } from '../records/trajectory-record.ts';
import { hashText } from '../base/hash.ts';
import type { AgentIdentity } from '../records/agent-event.ts';
import { textOfContent } from '../records/agent-message.ts';
import type { Mutable } from '../base/json.ts';
import { OpenCalls } from '../base/open-calls.ts';

/** The summary of a run in lists. Only `RunCounter` counts: stores use it to update the summary, and `RunView` uses it too. */
export interface RunSummary extends AgentIdentity {
  /** Unix milliseconds of the first and the last record that have a time; 0 if no record has one. */
  readonly startedAtMs: number;
  readonly lastAtMs: number;
  readonly records: number;
  /** Highest `seq`, including gap records. */
  readonly lastSeq: number;
  /** Number of records that gap records replace. Absent if none, or if the store was written before this member existed. */
  readonly lostRecords?: number;
  readonly turns: number;
  /** Number of started calls, plus results whose start was lost (`OpenCalls`). */
  readonly calls: number;
  /** Number of failed results, without those of refused and cancelled calls. */
  readonly errors: number;
  /** Number of calls that a person or a policy refused. Absent if none. */
  readonly refused?: number;
  /** Number of calls that a person or the host stopped or skipped. Absent if none. */
  readonly cancelled?: number;
  /** Keys of calls without a result, at most 512. Later results are matched to them. Absent if `problem` is set. */
  readonly openCalls?: readonly string[];
  /** `outcome` of the last `run_ended` record. Absent if the run is open, was resumed or has no end. */
  readonly outcome?: string;
  readonly success?: boolean;
  readonly reward?: number;
  /** The first 200 UTF-16 units of the task, without half a character; else of the user's first message. */
  readonly task?: string;
  readonly source?: string;
  readonly format?: string;
  /** The damage in one line, if the store cannot read the whole run. The counts cover the records before it. */
  readonly problem?: string;
}

const TASK_PREVIEW_CHARS = 200;
const MAX_KEY_CHARS = 64;

export function foldRunSummaries(summary: RunSummary | undefined, records: readonly TrajectoryRecord[]): RunSummary {
  const counter = new RunCounter(summary);
  for (const record of records) counter.fold(record);
  return counter.summary();
}

/** Counts one run. Cost: O(1) per record; memory for 512 open calls. */
export class RunCounter {
  #draft: Draft | undefined;
  readonly #openCalls: OpenCalls<true>;

  constructor(summary?: RunSummary) {
    this.#draft = summary === undefined ? undefined : { ...summary };
    this.#openCalls = new OpenCalls(summary?.openCalls?.map((key) => [key, true]));
  }

  get calls(): number {
    return this.#draft?.calls ?? 0;
  }
  get modelId(): string | undefined {
    return this.#draft?.modelId;
  }
  /** Unix milliseconds; 0 before the first record with a time. */
  get lastAtMs(): number {
    return this.#draft?.lastAtMs ?? 0;
  }

  fold(record: TrajectoryRecord): void {
    const recordedAtMs = record.recorded_at_unix_ms;
    const draft = (this.#draft ??= newSummary(record));
    if (draft.startedAtMs === 0) draft.startedAtMs = recordedAtMs;
    if (recordedAtMs > draft.lastAtMs) draft.lastAtMs = recordedAtMs;
    draft.records += 1;
    draft.lastSeq = lastSeqOf(record);
    this.#count(draft, record);
  }

  summary(): RunSummary {
    const draft = this.#draft ?? newSummary(undefined);
    return { ...draft, openCalls: this.#openCalls.entries().map(([key]) => key) };
  }

  #count(draft: Draft, record: TrajectoryRecord): void {
    const { payload } = record;
    switch (payload.kind) {
      case 'run_started':
        if (payload.task !== undefined) draft.task = createPreview(payload.task);
        if (payload.source !== undefined) draft.source = payload.source;
        if (payload.format !== undefined) draft.format = payload.format;
        applyIdentity(draft, payload.identity);
        return;
      case 'run_identified':
        applyIdentity(draft, payload);
        return;
      case 'message_appended':
        // A program that names no task: its user's first words.
        if (payload.message.role === 'user' && draft.format === undefined && draft.task === undefined) {
          const text = textOfContent(payload.message.content).trim();
          if (text !== '') draft.task = createPreview(text);
        }
        // Many agent programs name the model only in its responses.
        if (payload.message.role === 'assistant' && payload.message.model_id !== undefined)
          draft.modelId ??= payload.message.model_id;
        return;
      case 'turn_started':
        draft.turns += 1;
        return;
      case 'gap':
        draft.lostRecords = (draft.lostRecords ?? 0) + lastSeqOf(record) - record.seq + 1;
        return;
      case 'tool_started':
        draft.calls += 1;
        this.#openCalls.begin(callKey(payload.tool_call_id), true);
        return;
      case 'tool_ended': {
        if (this.#openCalls.end(callKey(payload.tool_call_id)) === undefined) draft.calls += 1;
        const outcome = outcomeOf(payload);
        if (outcome === 'failed') draft.errors += 1;
        else if (outcome !== 'ok') draft[outcome] = (draft[outcome] ?? 0) + 1;
        return;
      }
      case 'run_ended':
        clearEnd(draft);
        draft.outcome = payload.outcome;
        if (payload.success !== undefined) draft.success = payload.success;
        if (payload.reward !== undefined) draft.reward = payload.reward;
        return;
      case 'run_resumed':
        clearEnd(draft);
        return;
      default:
        break;
    }
  }
}

function callKey(id: string): string {
  return id.length <= MAX_KEY_CHARS ? id : hashText(id);
}

type Draft = Mutable<RunSummary>;

function newSummary(first: TrajectoryRecord | undefined): Draft {
  const recordedAtMs = first?.recorded_at_unix_ms ?? 0;
  return {
    runId: first?.run_id ?? '',
    ...(first?.parent_run_id === undefined ? {} : { parentRunId: first.parent_run_id }),
    depth: first?.depth ?? 0,
    startedAtMs: recordedAtMs,
    lastAtMs: recordedAtMs,
    records: 0,
    lastSeq: -1,
    turns: 0,
    calls: 0,
    errors: 0,
    openCalls: [],
  };
}

/** Returns the last `seq` that a record covers: its own `seq`, or `through_seq` of a gap. */
export function lastSeqOf(record: TrajectoryRecord): number {
  return record.payload.kind === 'gap' ? Math.max(record.seq, record.payload.through_seq) : record.seq;
}

function createPreview(task: string): string {
  const preview = task.slice(0, TASK_PREVIEW_CHARS);
  const splitsPair =
    preview.length < task.length &&
    !preview.slice(-1).isWellFormed() &&
    task.slice(preview.length - 1, preview.length + 1).isWellFormed();
  return splitsPair ? preview.slice(0, -1) : preview;
}

function applyIdentity(draft: Draft, identity: Omit<RunIdentified, 'kind'>): void {
  const { agent_name: agentName, conversation_id: conversationId, model_id: modelId } = identity;
  if (modelId !== undefined) draft.modelId = modelId;
  if (agentName !== undefined) draft.agentName = agentName;
  if (conversationId !== undefined) draft.conversationId = conversationId;
}

function clearEnd(draft: Draft): void {
  delete draft.outcome;
  delete draft.success;
  delete draft.reward;
}

export function damagedSummary(runId: string, problem: string, startedAtMs = 0): RunSummary {
  const counts = { depth: 0, records: 0, lastSeq: -1, turns: 0, calls: 0, errors: 0 };
  return { runId, ...counts, startedAtMs, lastAtMs: startedAtMs, problem };
}
