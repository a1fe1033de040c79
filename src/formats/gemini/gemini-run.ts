import { present } from '../../base/present.ts';
import { LruMap } from '../../base/lru-map.ts';
import { shellAnswer } from '../../calls/shell-answer.ts';
import { type StoredContentBlock, type StoredUsage, textOfContent } from '../../records/stored-message.ts';
import type { ImportItem } from '../import-item.ts';
import { listOf, membersOf, numberOrUndefined, type JsonMembers } from '../parts/json-member.ts';
import { plainText } from '../parts/plain-text.ts';
import type { AnswerPart } from '../parts/run-items.ts';
import { SessionItems, type SessionIdentity } from '../parts/session-items.ts';
import { SkipCounts } from '../parts/skip-counts.ts';
import { asJson, sourceBlock, sourceBlocks, textOrUndefined } from '../parts/source-content.ts';
import { sourceTimeMs } from '../parts/source-time.ts';

/** Entries that may be written again under their ids. */
const REMEMBERED_ENTRIES = 8192;
/** What Gemini CLI and its hooks add to a message. */
const ADDED = /<(hook_context|session_context)>[^]*?<\/\1>\s*/g;

/**
 * One Gemini chat. An entry is written again under its id when it grows, so each is kept back until another one
 * comes; of one that grows later still, only what is new is read.
 */
export class GeminiRun {
  readonly session: SessionItems;
  readonly skipped: SkipCounts = new SkipCounts();
  /** How many calls of an entry were given. */
  readonly #given = new LruMap<number>(REMEMBERED_ENTRIES);
  #pending: JsonMembers | undefined;

  constructor(identity: Omit<SessionIdentity, 'format'>) {
    this.session = new SessionItems({ ...identity, format: 'gemini' });
  }

  *entry(entry: JsonMembers): Generator<ImportItem> {
    if (this.#pending?.id !== entry.id) yield* this.#flush();
    this.#pending = entry;
  }

  /** The history was set as a whole: at the beginning of a chat, or after it was compressed. */
  *history(entries: readonly unknown[], atMs: number | undefined): Generator<ImportItem> {
    yield* this.#flush();
    const isBegun = this.#given.size > 0;
    const unknown = entries.map((entry) => membersOf(entry)).filter((entry) => !this.#given.has(plainText(entry.id)));
    if (unknown.length === 0) return;
    if (!isBegun) {
      for (const entry of unknown) yield* this.entry(entry);
      return;
    }
    yield* this.session.record({ kind: 'compaction', trigger: 'compress' }, atMs);
    for (const entry of unknown) this.#given.set(plainText(entry.id), listOf(entry.toolCalls).length);
  }

  /** The user went back to an earlier message. */
  *rewind(atMs: number | undefined): Generator<ImportItem> {
    yield* this.#flush();
    yield* this.session.record({ kind: 'compaction', trigger: 'rewind' }, atMs);
  }

  *finish(): Generator<ImportItem> {
    yield* this.#flush();
    yield* this.session.finish();
  }

  *#flush(): Generator<ImportItem> {
    const entry = this.#pending;
    if (entry === undefined) return;
    this.#pending = undefined;
    const id = plainText(entry.id);
    const atMs = sourceTimeMs(entry.timestamp);
    const given = this.#given.get(id);
    this.#given.set(id, listOf(entry.toolCalls).length);
    if (entry.type === 'gemini') yield* this.#answer(entry, given, atMs);
    else if (given !== undefined) return;
    else if (entry.type === 'user') yield* this.said(sourceBlocksOf(entry.content), atMs);
    else if (entry.type === 'error') {
      const message = plainText(entry.content);
      yield* this.session.failure([sourceBlock(message)], message, atMs);
    } else this.skipped.add(`${plainText(entry.type)} entries`);
  }

  /** A message of the user's role: what hooks and the host added is a message by itself. */
  *said(blocks: readonly StoredContentBlock[], atMs: number | undefined): Generator<ImportItem> {
    const added: StoredContentBlock[] = [];
    const said: StoredContentBlock[] = [];
    for (const block of blocks) {
      if (block.type !== 'text') {
        said.push(block);
        continue;
      }
      for (const [text] of block.text.matchAll(ADDED)) added.push({ type: 'text', text: text.trim() });
      const text = block.text.replaceAll(ADDED, '').trim();
      if (text !== '') said.push({ type: 'text', text });
    }
    yield* this.session.system(added, atMs);
    yield* this.session.user(said, atMs, textOfContent(said));
  }

  *#answer(entry: JsonMembers, given: number | undefined, atMs: number | undefined): Generator<ImportItem> {
    const calls = listOf(entry.toolCalls).map((call) => membersOf(call));
    const fresh = calls.slice(given ?? 0);
    if (given !== undefined && fresh.length === 0) return;
    const parts: AnswerPart[] = given === undefined ? [...thoughtsOf(entry), ...sourceBlocksOf(entry.content)] : [];
    for (const call of fresh) {
      const name = textOrUndefined(call.name) ?? 'unknown';
      parts.push({ type: 'call', call: { sourceId: textOrUndefined(call.id), name, args: asJson(call.args ?? {}) } });
    }
    const piece = {
      messageId: plainText(entry.id),
      parts,
      modelId: textOrUndefined(entry.model),
      usage: given === undefined ? usageOf(membersOf(entry.tokens)) : undefined,
    };
    yield* this.session.answer(piece, atMs);
    for (const call of fresh) yield* this.#result(call);
  }

  *#result(call: JsonMembers): Generator<ImportItem> {
    const responses = listOf(call.result).map((part) => membersOf(membersOf(part).functionResponse));
    const response = responses.find(({ id }) => id !== undefined && id === call.id) ?? responses[0];
    if (response === undefined && call.status === undefined) return;
    const { output, error, ...others } = membersOf(response?.response);
    const text = plainText(output ?? error ?? (response === undefined ? (call.resultDisplay ?? '') : others));
    const result = text.replaceAll(ADDED, '').trimEnd();
    const exitCode = shellAnswer(result)?.exitCode ?? 0;
    const isError = call.status === 'error' || call.status === 'cancelled' || error !== undefined || exitCode !== 0;
    const atMs = sourceTimeMs(call.timestamp);
    const added = [...text.matchAll(ADDED)].map(([part]): StoredContentBlock => ({ type: 'text', text: part.trim() }));
    yield* this.session.result({ sourceId: textOrUndefined(call.id), result, isError, atMs });
    yield* this.session.system(added, atMs);
  }
}

/** Parts of the Gemini API as blocks; results stand with their calls and are left out. */
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

/** Thoughts are counted beside the output, and cost the same. */
function usageOf(tokens: JsonMembers): StoredUsage | undefined {
  const input = numberOrUndefined(tokens.input);
  if (input === undefined) return undefined;
  return {
    input_tokens: input,
    output_tokens: (numberOrUndefined(tokens.output) ?? 0) + (numberOrUndefined(tokens.thoughts) ?? 0),
    cache_read_tokens: numberOrUndefined(tokens.cached) ?? 0,
    ...present({ reasoning_tokens: numberOrUndefined(tokens.thoughts) }),
  };
}
