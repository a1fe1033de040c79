import {
  type JsonMembers,
  listOf,
  membersOf,
  numberOrUndefined,
  textOrUndefined,
  present,
} from '../../core/base/json.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import { hostOutcome } from '../../core/detect/calls/host-refusals.ts';
import { shellAnswer } from '../../core/detect/calls/shell-answer.ts';
import { type StoredContentBlock, type StoredUsage, textOfContent } from '../../core/records/agent-message.ts';
import { statedFailure } from '../claude-code/claude-ending.ts';
import type { ImportItem } from '../import-item.ts';
import { plainText } from '../parts/object-lines.ts';
import type { AnswerPart } from '../parts/run-items.ts';
import { SessionItems, type SessionIdentity } from '../parts/session-items.ts';
import { SkipCounts } from '../parts/skip-counts.ts';
import { asJson, sourceBlocks, sourceTimeMs } from '../parts/source-content.ts';

/** Maximum number of entries for which later versions are detected. */
const REMEMBERED_ENTRIES = 8192;
/** States of a call without a result. */
const UNFINISHED: ReadonlySet<unknown> = new Set(['executing', 'scheduled', 'validating', 'awaiting_approval']);
/** Matches text that Gemini CLI and its hooks add to a message. */
const ADDED = /<(hook_context|session_context)>[^]*?<\/\1>\s*/g;

/**
 * Reads one Gemini chat. The chat file repeats an entry with the same id when the entry grows. Each entry is therefore
 * buffered until another entry arrives. If an entry grows later, only its new part is read.
 */
export class GeminiRun {
  readonly session: SessionItems;
  readonly skipped: SkipCounts = new SkipCounts();
  /** Number of calls already emitted per entry. */
  readonly #emittedCalls = new LruMap<number>(REMEMBERED_ENTRIES);
  #pendingEntry: JsonMembers | undefined;
  /** Ids of the emitted answers. */
  readonly #answers = new LruMap<true>(REMEMBERED_ENTRIES);

  constructor(identity: Omit<SessionIdentity, 'format'>) {
    this.session = new SessionItems({ ...identity, format: 'gemini' });
  }

  *entry(entry: JsonMembers): Generator<ImportItem> {
    if (this.#pendingEntry?.id !== entry.id) yield* this.#pendingItems();
    this.#pendingEntry = entry;
  }

  /** Handles a replaced history. The history is written at the beginning of a chat and after compression. */
  *history(entries: readonly unknown[], atMs: number | undefined): Generator<ImportItem> {
    yield* this.#pendingItems();
    const isBegun = this.#emittedCalls.size > 0;
    const newCalls = entries
      .map((entry) => membersOf(entry))
      .filter((entry) => !this.#emittedCalls.has(plainText(entry.id)));
    if (newCalls.length === 0) return;
    if (!isBegun) {
      for (const entry of newCalls) yield* this.entry(entry);
      return;
    }
    // A session that is resumed writes its whole history again, with results as further entries.
    const kept = new Set(entries.map((entry) => plainText(membersOf(entry).id)).filter((id) => this.#answers.has(id)));
    if (kept.size < this.#answers.size) yield* this.session.compaction('compress', atMs);
    for (const entry of newCalls) this.#emittedCalls.set(plainText(entry.id), listOf(entry.toolCalls).length);
  }

  /** Handles the user's return to an earlier message. */
  *rewind(atMs: number | undefined): Generator<ImportItem> {
    yield* this.#pendingItems();
    yield* this.session.compaction('rewind', atMs);
  }

  *finish(): Generator<ImportItem> {
    yield* this.#pendingItems();
    yield* this.session.finish();
  }

  *#pendingItems(): Generator<ImportItem> {
    const entry = this.#pendingEntry;
    if (entry === undefined) return;
    this.#pendingEntry = undefined;
    const id = plainText(entry.id);
    const atMs = sourceTimeMs(entry.timestamp);
    const emittedCount = this.#emittedCalls.get(id);
    this.#emittedCalls.set(id, listOf(entry.toolCalls).length);
    if (entry.type === 'gemini') {
      this.#answers.set(id, true);
      this.session.outcome(undefined, atMs);
      yield* this.#answerItems(entry, emittedCount, atMs);
    } else if (emittedCount !== undefined) return;
    else if (entry.type === 'user') {
      this.session.outcome(undefined, atMs);
      yield* this.user(sourceBlocksOf(entry.content), atMs);
    } else if (entry.type === 'error') {
      yield* this.session.failure(plainText(entry.content), atMs);
      this.session.outcome(statedFailure(plainText(entry.content)), atMs);
    } else if (entry.type === 'info' && /^request cancelled/i.test(plainText(entry.content))) {
      this.session.outcome({ outcome: 'aborted', reason: 'interrupted' }, atMs);
    } else this.skipped.add(`${plainText(entry.type)} entries`);
  }

  /** Handles a message with the user's role. Text that hooks and the host added becomes a separate message. */
  *user(blocks: readonly StoredContentBlock[], atMs: number | undefined): Generator<ImportItem> {
    const addedBlocks: StoredContentBlock[] = [];
    const userBlocks: StoredContentBlock[] = [];
    for (const block of blocks) {
      if (block.type !== 'text') {
        userBlocks.push(block);
        continue;
      }
      for (const [text] of block.text.matchAll(ADDED)) addedBlocks.push({ type: 'text', text: text.trim() });
      const text = block.text.replaceAll(ADDED, '').trim();
      if (text !== '') userBlocks.push({ type: 'text', text });
    }
    yield* this.session.system(addedBlocks, atMs);
    yield* this.session.user(userBlocks, atMs, textOfContent(userBlocks));
  }

  *#answerItems(entry: JsonMembers, emittedCount: number | undefined, atMs: number | undefined): Generator<ImportItem> {
    const calls = listOf(entry.toolCalls).map((call) => membersOf(call));
    const newCalls = calls.slice(emittedCount ?? 0);
    if (emittedCount !== undefined && newCalls.length === 0) return;
    const parts: AnswerPart[] =
      emittedCount === undefined ? [...thoughtsOf(entry), ...sourceBlocksOf(entry.content)] : [];
    for (const call of newCalls) {
      const name = textOrUndefined(call.name) ?? 'unknown';
      parts.push({ type: 'call', call: { sourceId: textOrUndefined(call.id), name, args: asJson(call.args ?? {}) } });
    }
    const piece = {
      messageId: plainText(entry.id),
      parts,
      modelId: textOrUndefined(entry.model),
      usage: emittedCount === undefined ? geminiUsage(membersOf(entry.tokens)) : undefined,
    };
    yield* this.session.answer(piece, atMs);
    for (const call of newCalls) yield* this.#resultItems(call);
  }

  *#resultItems(call: JsonMembers): Generator<ImportItem> {
    const responses = listOf(call.result).map((part) => membersOf(membersOf(part).functionResponse));
    const response = responses.find(({ id }) => id !== undefined && id === call.id) ?? responses[0];
    if (response === undefined && (call.status === undefined || UNFINISHED.has(call.status))) return;
    const { output, error, ...others } = membersOf(response?.response);
    const text = plainText(output ?? error ?? (response === undefined ? (call.resultDisplay ?? '') : others));
    const result = text.replaceAll(ADDED, '').trimEnd();
    const exitCode = shellAnswer(result)?.exitCode ?? 0;
    const isError = call.status === 'error' || call.status === 'cancelled' || error !== undefined || exitCode !== 0;
    const atMs = sourceTimeMs(call.timestamp);
    const addedBlocks = [...text.matchAll(ADDED)].map(([part]): StoredContentBlock => ({
      type: 'text',
      text: part.trim(),
    }));
    const outcome = call.status === 'cancelled' ? (hostOutcome(result, 'gemini') ?? 'cancelled') : undefined;
    yield* this.session.result({ sourceId: textOrUndefined(call.id), result, isError, outcome, atMs });
    yield* this.session.system(addedBlocks, atMs);
  }
}

/** Converts parts of the Gemini API to blocks. Results are skipped, because they belong to their calls. */
function sourceBlocksOf(content: unknown): readonly StoredContentBlock[] {
  return sourceBlocks(content).flatMap((block): readonly StoredContentBlock[] => {
    if (block.type !== 'other') return [block];
    const { text, thought, functionResponse, functionCall } = membersOf(block.value);
    if (functionResponse !== undefined || functionCall !== undefined) return [];
    if (typeof text !== 'string') return [block];
    return [{ type: thought === true ? 'reasoning' : 'text', text }];
  });
}

function thoughtsOf(entry: JsonMembers): readonly StoredContentBlock[] {
  return listOf(entry.thoughts).map((thought) => {
    const { subject, description } = membersOf(thought);
    const text = [subject, description].filter((part) => typeof part === 'string' && part !== '').join(': ');
    return { type: 'reasoning', text };
  });
}

/** Reads the token counts. Thoughts are counted separately from the output and have the same price. */
function geminiUsage(tokens: JsonMembers): StoredUsage | undefined {
  const input = numberOrUndefined(tokens.input);
  if (input === undefined) return undefined;
  return {
    input_tokens: input,
    output_tokens: (numberOrUndefined(tokens.output) ?? 0) + (numberOrUndefined(tokens.thoughts) ?? 0),
    cache_read_tokens: numberOrUndefined(tokens.cached) ?? 0,
    ...present({ reasoning_tokens: numberOrUndefined(tokens.thoughts) }),
  };
}
