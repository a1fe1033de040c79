import { type JsonMembers, membersOf, textOrUndefined } from '../../core/base/json-member.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import { isJsonObject } from '../../core/base/json.ts';
import { type StoredContentBlock, textOfContent } from '../../core/records/stored-message.ts';
import type { RunEnding } from '../../core/records/trajectory-record.ts';
import { blocksOf, isCall, isTaskText, providerResultOf, resultInBlock } from './claude-code-entry.ts';
import { endingAfter, failureReason, isTurnEnd } from './claude-ending.ts';
import type { ImportItem } from '../import-item.ts';
import type { AnswerPart } from '../parts/run-items.ts';
import { SessionItems } from '../parts/session-items.ts';
import { sourceCall } from '../parts/source-call.ts';
import { sourceBlock } from '../parts/source-content.ts';
import { sourceTimeMs } from '../parts/source-time.ts';
import { sourceUsage } from '../parts/source-usage.ts';

const MAX_DENIED = 256;

/** Returns true for the notice of stream-json that a call was denied. It precedes the result of the call. */
export function isDenial(entry: JsonMembers): entry is JsonMembers & { readonly tool_use_id: string } {
  return entry.type === 'system' && entry.subtype === 'permission_denied' && typeof entry.tool_use_id === 'string';
}

/** Reads one session or subagent. An answer consists of several lines. Results may be between them if tools run early. */
export class ClaudeCodeRun {
  readonly #session: SessionItems;
  #compactedSinceAnswer = false;
  /** Calls that the host denied. The model sees the words of whoever denied them. */
  readonly #deniedCalls = new LruMap<true>(MAX_DENIED);

  constructor(identity: { readonly id: string; readonly parentId?: string; readonly conversationId?: string }) {
    this.#session = new SessionItems({ ...identity, format: 'claude-code' });
  }

  /** Takes a user, assistant, compact_boundary, turn end, result, attachment or cost-state entry of this run. */
  *entry(entry: JsonMembers): Generator<ImportItem> {
    if (entry.type === 'cost-state') {
      const { totalCostUSD: usd } = entry;
      if (typeof usd === 'number' && usd >= 0) this.#session.cost(usd);
      return;
    }
    if (isDenial(entry)) {
      this.#deniedCalls.set(entry.tool_use_id, true);
      return;
    }
    const atMs = sourceTimeMs(entry.timestamp);
    if (isTurnEnd(entry)) {
      this.#session.endsAt(atMs);
      return;
    }
    const ending = endingAfter(entry);
    if (ending !== 'same') this.#session.outcome(ending, atMs);
    if (entry.type === 'attachment') return;
    if (entry.type === 'system') yield* this.#compactionItems(triggerOf(entry), atMs);
    else if (entry.type === 'result') this.#session.outcome(outcomeOf(entry), atMs);
    else if (entry.type === 'user') yield* this.#userItems(entry, atMs);
    else if (entry.isApiErrorMessage === true) {
      const parts = blocksOf(entry).map((block) => sourceBlock(block));
      yield* this.#session.failure(textOfContent(parts), atMs, parts);
    } else yield* this.#assistantItems(entry, atMs);
  }

  /** Emits an answer whose calls all have results, because the next answer may begin minutes later. */
  *pause(): Generator<ImportItem> {
    yield* this.#session.pause();
  }

  *finish(): Generator<ImportItem> {
    yield* this.#session.finish();
  }

  *#userItems(entry: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    let userBlocks: StoredContentBlock[] = [];
    for (const block of blocksOf(entry)) {
      const result = resultInBlock(block, atMs);
      if (result === undefined) {
        userBlocks.push(sourceBlock(block));
        continue;
      }
      yield* this.#messageItems(entry, userBlocks, atMs);
      userBlocks = [];
      const isDenied = result.sourceId !== undefined && this.#deniedCalls.has(result.sourceId);
      yield* this.#session.result(isDenied ? { ...result, outcome: 'refused' } : result);
    }
    yield* this.#messageItems(entry, userBlocks, atMs);
  }

  *#messageItems(
    entry: JsonMembers,
    blocks: readonly StoredContentBlock[],
    atMs: number | undefined,
  ): Generator<ImportItem> {
    if (blocks.length === 0) return;
    const isSummary = entry.isCompactSummary === true;
    // A preceding boundary entry already reports the compaction. Older files contain only the summary.
    if (isSummary && !this.#compactedSinceAnswer) yield* this.#compactionItems('summary', atMs);
    const text = textOfContent(blocks);
    const isTask = !isSummary && entry.isMeta !== true && isTaskText(text);
    yield* this.#session.user(blocks, atMs, isTask ? text : undefined);
  }

  *#assistantItems(entry: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    this.#compactedSinceAnswer = false;
    const message = membersOf(entry.message);
    const parts: AnswerPart[] = [];
    const results = [];
    for (const block of blocksOf(entry)) {
      const result = providerResultOf(block, atMs);
      if (result === undefined) parts.push(partOf(block));
      else results.push(result);
    }
    const piece = {
      messageId: textOrUndefined(message.id) ?? textOrUndefined(entry.requestId),
      parts,
      // Claude Code writes `<synthetic>` as the model of error messages.
      modelId: message.model === '<synthetic>' ? undefined : textOrUndefined(message.model),
      stopReason: textOrUndefined(message.stop_reason),
      usage: sourceUsage(message.usage),
    };
    yield* this.#session.answer(piece, atMs);
    for (const result of results) yield* this.#session.result(result);
  }

  *#compactionItems(trigger: string, atMs: number | undefined): Generator<ImportItem> {
    this.#compactedSinceAnswer = true;
    yield* this.#session.compaction(trigger, atMs);
  }
}

function partOf(block: unknown): AnswerPart {
  return isCall(block) ? { type: 'call', call: sourceCall(block) } : sourceBlock(block);
}

function triggerOf(entry: JsonMembers): string {
  const metadata = isJsonObject(entry.compactMetadata) ? entry.compactMetadata : entry.compact_metadata;
  return (isJsonObject(metadata) ? textOrUndefined(metadata.trigger) : undefined) ?? 'unspecified';
}

/** Reads the last line of stream-json, which says how the process ended. It does not say whether the task was solved. */
function outcomeOf(entry: JsonMembers): RunEnding {
  const subtype = textOrUndefined(entry.subtype) ?? 'unspecified';
  if (subtype === 'error_max_turns') return { outcome: subtype, reason: 'turn_limit' };
  if (entry.is_error !== true)
    return subtype === 'success' ? { outcome: 'ended', reason: 'answered' } : { outcome: subtype };
  const failure = { error: undefined, status: entry.api_error_status, text: textOrUndefined(entry.result) ?? '' };
  return { outcome: subtype === 'success' ? 'error' : subtype, reason: failureReason(failure) };
}
