import { type Json, present } from '../../core/base/json.ts';
import {
  outcomeOf,
  type CallOutcome,
  type TrajectoryPayload,
  type TrajectoryRecord,
} from '../../core/records/trajectory-record.ts';
import type {
  StoredContentBlock,
  StoredContent,
  StoredMessage,
  StoredUsage,
} from '../../core/records/agent-message.ts';
import type { RunCall } from '../../core/facts/run-call.ts';
import type { RunOutcome } from '../../core/facts/run-verdict.ts';
import { RunView } from '../../core/facts/run-view.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';

export interface ExportedRun {
  readonly run: RunSummary;
  /** Returns all records of the run in order. Can be called repeatedly. */
  readonly records: () => AsyncIterable<TrajectoryRecord>;
}

export interface ExportedCall {
  readonly id: string;
  readonly tool: string;
  readonly args: Json;
  /** Unix milliseconds; 0 if unknown. */
  readonly startMs: number;
  answer?: {
    readonly result: Json;
    readonly failed: boolean;
    readonly outcome: CallOutcome;
    readonly endMs: number;
  };
}

export type TranscriptPart =
  | {
      readonly type: 'message';
      readonly role: 'system' | 'user';
      readonly content: StoredContent;
      readonly atMs: number;
    }
  | { readonly type: 'compaction'; readonly trigger: string; readonly atMs: number }
  | TranscriptAnswer;

/** A model response with its calls. If the host does not report responses, it holds the calls only. */
export interface TranscriptAnswer {
  readonly type: 'answer';
  readonly atMs: number;
  /** Text, reasoning and other blocks, without the calls. */
  blocks: readonly StoredContentBlock[];
  modelId?: string;
  usage?: StoredUsage;
  readonly calls: ExportedCall[];
}

export interface Transcript {
  readonly run: RunSummary;
  readonly task: string | undefined;
  readonly outcome: RunOutcome | undefined;
  readonly parts: readonly TranscriptPart[];
}

/** Builds the transcript of a run. Memory: its messages, arguments and results. */
export async function readTranscript(records: AsyncIterable<TrajectoryRecord>): Promise<Transcript> {
  const view = new RunView();
  const writer = new TranscriptWriter();
  for await (const record of records) writer.addRecord(record.payload, record.recorded_at_unix_ms, view.fold(record));
  return { run: view.counts, task: view.started?.task, outcome: view.outcome, parts: writer.parts };
}

class TranscriptWriter {
  readonly parts: TranscriptPart[] = [];
  readonly #calls = new Map<number, ExportedCall>();
  #answer: TranscriptAnswer | undefined;
  #hasTurns = false;

  addRecord(payload: TrajectoryPayload, atMs: number, call: RunCall | undefined): void {
    switch (payload.kind) {
      case 'turn_started':
        this.#hasTurns = true;
        this.#answer = undefined;
        return;
      case 'message_appended':
        this.#addMessage(payload.message, atMs);
        return;
      case 'turn_ended':
        if (this.#answer?.blocks.length === 0) this.#addMessage(payload.assistant, atMs);
        return;
      case 'compaction':
        this.parts.push({ type: 'compaction', trigger: payload.trigger, atMs });
        return;
      case 'tool_started':
        if (call !== undefined) this.#addCall(call, atMs);
        return;
      case 'tool_ended': {
        if (call === undefined) return;
        const { result, result_missing: missing } = payload;
        const outcome = outcomeOf(payload);
        const exported = this.#calls.get(call.number) ?? this.#addCall(call, atMs);
        this.#calls.delete(call.number);
        if (missing !== true) exported.answer = { result, failed: outcome !== 'ok', outcome, endMs: atMs };
        return;
      }
      default:
        break;
    }
  }

  #addMessage(message: StoredMessage, atMs: number): void {
    if (message.role === 'tool_result') return;
    const { content } = message;
    if (message.role !== 'assistant') {
      this.#answer = undefined;
      this.parts.push({ type: 'message', role: message.role, content, atMs });
      return;
    }
    const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
    // Some hosts report the calls of a response before its text.
    const isAwaitingText =
      this.#answer?.blocks.length === 0 && this.#answer.calls.every(({ answer }) => answer === undefined);
    const answer = isAwaitingText && this.#answer !== undefined ? this.#answer : this.#startAnswer(atMs);
    answer.blocks = blocks.filter(
      (block) => block.type !== 'tool_call' && !(block.type === 'text' && block.text === ''),
    );
    Object.assign(answer, present({ modelId: message.model_id, usage: message.usage }));
  }

  #addCall({ args, id, number, tool }: RunCall, startMs: number): ExportedCall {
    // Without turn records, a call that starts after a result belongs to the next response.
    const isNext = !this.#hasTurns && this.#answer?.calls.some(({ answer }) => answer !== undefined) === true;
    const answer = this.#answer === undefined || isNext ? this.#startAnswer(startMs) : this.#answer;
    const call: ExportedCall = { id, tool, args, startMs };
    answer.calls.push(call);
    this.#calls.set(number, call);
    return call;
  }

  #startAnswer(atMs: number): TranscriptAnswer {
    const answer: TranscriptAnswer = { type: 'answer', atMs, blocks: [], calls: [] };
    this.parts.push(answer);
    this.#answer = answer;
    return answer;
  }
}

/** Returns the text of a message block, or the name of a picture. */
export function textOfBlock(block: StoredContentBlock): string {
  if (block.type === 'text' || block.type === 'reasoning') return block.text;
  if (block.type === 'image') return `[${block.media_type} ${block.url ?? 'left out'}]`;
  return textOfJson(block.type === 'other' ? block.value : block.args);
}

/** Returns a string unchanged and any other value as JSON. */
export function textOfJson(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function storedBlocks(content: StoredContent): readonly StoredContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** Returns `timestamp: ISO` if the record has a valid time, else undefined. */
export function isoTime(atMs: number): string | undefined {
  return atMs > 0 && atMs < 8.64e15 ? new Date(atMs).toISOString() : undefined;
}
