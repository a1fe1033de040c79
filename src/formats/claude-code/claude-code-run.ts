import { isJsonObject } from '../../base/json.ts';
import type { StoredContentBlock, StoredUsage } from '../../records/stored-message.ts';
import { textOfContent } from '../../records/stored-message.ts';
import type { RunEnded } from '../../records/trajectory-record.ts';
import { blocksOf, isCall, isTaskText, providerResultOf, toolResultOf } from './claude-code-entry.ts';
import type { ClaudeToolResult } from './claude-code-entry.ts';
import type { ImportedRun, ImportItem } from '../import-item.ts';
import { RunItems } from '../parts/run-items.ts';
import type { AnswerPart } from '../parts/run-items.ts';
import { sourceCall } from '../parts/source-call.ts';
import { plainest, sourceBlock, textOrUndefined } from '../parts/source-content.ts';
import { sourceTimeMs } from '../parts/source-time.ts';
import { sourceUsage } from '../parts/source-usage.ts';

type JsonMembers = Readonly<Record<string, unknown>>;

/** User messages kept back while the task is not known: commands, caveats and reminders come before it. */
const MAX_HELD = 16;
/** Parts and results of one answer kept back; a longer answer goes on as further messages of its turn. */
const MAX_PENDING = 512;

interface PendingAnswer {
  /** The model's message id: lines with the same one are one answer. */
  readonly messageId: string | undefined;
  readonly sameTurn: boolean;
  readonly atMs: number | undefined;
  readonly parts: AnswerPart[];
  readonly results: ClaudeToolResult[];
  modelId: string | undefined;
  stopReason: string | undefined;
  usage: StoredUsage | undefined;
}

/**
 * One session or subagent being read. An answer arrives as several lines, with results in between when tools run
 * before it is complete; it is kept back until something else follows, so that it becomes one message.
 */
export class ClaudeCodeRun {
  readonly #identity: { readonly id: string; readonly parentId?: string; readonly conversationId?: string };
  readonly #items: RunItems;
  #begun = false;
  #held: { readonly blocks: readonly StoredContentBlock[]; readonly atMs: number | undefined }[] = [];
  #pending: PendingAnswer | undefined;
  #lastMessageId: string | undefined;
  #compactedSinceAnswer = false;
  #outcome: { readonly payload: RunEnded; readonly atMs: number | undefined } | undefined;

  constructor(identity: { readonly id: string; readonly parentId?: string; readonly conversationId?: string }) {
    this.#identity = identity;
    this.#items = new RunItems(identity.id);
  }

  /** Takes a user, assistant, compact_boundary or result entry of this run. */
  *entry(entry: JsonMembers): Generator<ImportItem> {
    const atMs = sourceTimeMs(entry.timestamp);
    if (entry.type === 'system') yield* this.#compaction(triggerOf(entry), atMs);
    else if (entry.type === 'result') this.#outcome = { payload: outcomeOf(entry), atMs };
    else if (entry.type === 'user') yield* this.#user(entry, atMs);
    else if (entry.isApiErrorMessage === true) yield* this.#apiError(entry, atMs);
    else yield* this.#assistant(entry, atMs);
  }

  /** No entry of this run comes any more. */
  *finish(): Generator<ImportItem> {
    yield* this.#flush();
    yield* this.#begin(undefined, undefined);
    yield* this.#items.finish(this.#outcome?.payload, this.#outcome?.atMs);
  }

  *#user(entry: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    let said: StoredContentBlock[] = [];
    for (const block of blocksOf(entry)) {
      const result = toolResultOf(block, atMs);
      if (result === undefined) {
        said.push(sourceBlock(block));
        continue;
      }
      yield* this.#said(entry, said, atMs);
      said = [];
      yield* this.#result(result);
    }
    yield* this.#said(entry, said, atMs);
  }

  *#said(entry: JsonMembers, blocks: readonly StoredContentBlock[], atMs: number | undefined): Generator<ImportItem> {
    if (blocks.length === 0) return;
    yield* this.#flush();
    const isSummary = entry.isCompactSummary === true;
    // The boundary before the summary already says so; older files have the summary alone.
    if (isSummary && !this.#compactedSinceAnswer) yield* this.#compaction('summary', atMs);
    const text = textOfContent(blocks);
    const isTask = !isSummary && entry.isMeta !== true && isTaskText(text);
    if (!this.#begun && !isTask && this.#held.length < MAX_HELD) {
      this.#held.push({ blocks, atMs });
      return;
    }
    yield* this.#begin(isTask ? text : undefined, atMs);
    yield this.#items.message('user', plainest(blocks), atMs);
  }

  *#result(result: ClaudeToolResult): Generator<ImportItem> {
    if (this.#pending === undefined) {
      yield* this.#begin(undefined, result.atMs);
      yield* this.#items.result(result, result.atMs);
      return;
    }
    this.#pending.results.push(result);
    if (this.#pending.results.length >= MAX_PENDING) yield* this.#flush();
  }

  *#assistant(entry: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    const message = isJsonObject(entry.message) ? entry.message : {};
    const messageId = textOrUndefined(message.id) ?? textOrUndefined(entry.requestId);
    const goesOn = messageId !== undefined && messageId === this.#pending?.messageId;
    if (!goesOn || (this.#pending?.parts.length ?? 0) >= MAX_PENDING) yield* this.#flush();
    this.#pending ??= {
      messageId,
      sameTurn: messageId !== undefined && messageId === this.#lastMessageId,
      atMs,
      parts: [],
      results: [],
      modelId: undefined,
      stopReason: undefined,
      usage: undefined,
    };
    const pending = this.#pending;
    for (const block of blocksOf(entry)) {
      const result = providerResultOf(block, atMs);
      if (result === undefined) pending.parts.push(partOf(block));
      else pending.results.push(result);
    }
    pending.modelId = textOrUndefined(message.model) ?? pending.modelId;
    pending.stopReason = textOrUndefined(message.stop_reason) ?? pending.stopReason;
    // Every line of an answer repeats its usage; the last one has the final count.
    pending.usage = sourceUsage(message.usage) ?? pending.usage;
  }

  /** A failed request that the host shows in the model's place: no model answered, so it is no turn. */
  *#apiError(entry: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    yield* this.#flush();
    yield* this.#begin(undefined, atMs);
    const parts = blocksOf(entry).map((block) => sourceBlock(block));
    yield* this.#items.answer({ parts, errorMessage: textOfContent(parts), sameTurn: true }, atMs);
  }

  *#compaction(trigger: string, atMs: number | undefined): Generator<ImportItem> {
    yield* this.#flush();
    yield* this.#begin(undefined, atMs);
    this.#compactedSinceAnswer = true;
    yield this.#items.record({ kind: 'compaction', trigger }, atMs);
  }

  /** Gives the kept answer and its results. */
  *#flush(): Generator<ImportItem> {
    const pending = this.#pending;
    if (pending === undefined) return;
    this.#pending = undefined;
    this.#lastMessageId = pending.messageId;
    this.#compactedSinceAnswer = false;
    yield* this.#begin(undefined, pending.atMs);
    yield* this.#items.answer(pending, pending.atMs);
    for (const result of pending.results) yield* this.#items.result(result, result.atMs);
  }

  /** Gives the run itself, once, and the user messages kept back before it. */
  *#begin(task: string | undefined, atMs: number | undefined): Generator<ImportItem> {
    if (this.#begun) return;
    this.#begun = true;
    const startedAtMs = this.#held[0]?.atMs ?? atMs;
    const run: ImportedRun = {
      key: this.#identity.id,
      format: 'claude-code',
      ...this.#identity,
      ...(task === undefined ? {} : { task }),
      ...(startedAtMs === undefined ? {} : { startedAtMs }),
    };
    yield { type: 'run', run };
    for (const { blocks, atMs: heldAtMs } of this.#held) {
      yield this.#items.message('user', plainest(blocks), heldAtMs);
    }
    this.#held = [];
  }
}

function partOf(block: unknown): AnswerPart {
  return isCall(block) ? { type: 'call', call: sourceCall(block) } : sourceBlock(block);
}

function triggerOf(entry: JsonMembers): string {
  const metadata = isJsonObject(entry.compactMetadata) ? entry.compactMetadata : entry.compact_metadata;
  return (isJsonObject(metadata) ? textOrUndefined(metadata.trigger) : undefined) ?? 'unspecified';
}

/** The last line of stream-json: it says how the process ended, not whether the task was done. */
function outcomeOf(entry: JsonMembers): RunEnded {
  const subtype = textOrUndefined(entry.subtype) ?? 'unspecified';
  const failed = entry.is_error === true ? 'error' : 'ended';
  return { kind: 'run_ended', outcome: subtype === 'success' ? failed : subtype, new_messages: [] };
}
