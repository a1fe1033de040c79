import { basename, dirname } from 'node:path';
import {
  type JsonMembers,
  listOf,
  membersOf,
  textOrUndefined,
  numberOrUndefined,
  present,
  isJsonObject,
} from '../../core/base/json.ts';
import type { ImportItem, DocumentImporter, ImportSource, LineImporter } from '../importer.ts';
import { ObjectLines, plainText } from '../parts/object-lines.ts';
import { sourceStem, sourceTimeMs, sourceBlock, sourceBlocks, namedCall, namedUsage } from '../parts/source-content.ts';
import { type StoredUsage, type StoredContentBlock, textOfContent } from '../../core/records/agent-message.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import { hostOutcome } from '../../core/facts/host-refusals.ts';
import { shellAnswer } from '../../core/detect/calls/shell-answer.ts';
import { statedFailure } from '../claude-code/claude-ending.ts';
import { messageBlocks } from '../openai-chat/openai-chat-messages.ts';
import type { AnswerPart } from '../parts/run-items.ts';
import { SessionItems, type SessionIdentity } from '../parts/session-items.ts';
import { SkipCounts } from '../parts/skip-counts.ts';

/** An error of the input of Gemini CLI itself, such as of the editor that it opens, ends no turn. */
const OWN_ERROR = /^\[use[A-Z]\w+\]/;

const REMEMBERED_ENTRIES = 8192;
const UNFINISHED: ReadonlySet<unknown> = new Set(['executing', 'scheduled', 'validating', 'awaiting_approval']);
/** Matches text that Gemini CLI and its hooks add to a message. */
const ADDED = /<(hook_context|session_context)>[^]*?<\/\1>\s*/g;

/** The file repeats an entry when it grows, so each is buffered until another arrives; later only the new part is read. */
class GeminiRun {
  readonly session: SessionItems;
  readonly skipped: SkipCounts = new SkipCounts();
  readonly #emittedCalls = new LruMap<number>(REMEMBERED_ENTRIES);
  #pendingEntry: JsonMembers | undefined;
  readonly #answers = new LruMap<true>(REMEMBERED_ENTRIES);

  constructor(identity: Omit<SessionIdentity, 'format'>) {
    this.session = new SessionItems({ ...identity, format: 'gemini' });
  }

  *entry(entry: JsonMembers): Generator<ImportItem> {
    if (this.#pendingEntry?.id !== entry.id) yield* this.#pendingItems();
    this.#pendingEntry = entry;
  }

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
    // A session that is resumed writes its history again, with results as further entries, and without a last answer whose calls
    // did not end.
    const kept = new Set(entries.map((entry) => plainText(membersOf(entry).id)));
    const answers = this.#answers.entries().map(([id]) => id);
    const lastKept = answers.findLastIndex((id) => kept.has(id));
    const isShortened = answers.slice(0, lastKept + 1).every((id) => kept.has(id));
    if (lastKept === -1 ? answers.length > 0 : !isShortened) yield* this.session.compaction('compress', atMs);
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
      yield* this.user(geminiBlocks(entry.content), atMs);
    } else if (entry.type === 'error' && !OWN_ERROR.test(plainText(entry.content))) {
      yield* this.session.failure(plainText(entry.content), atMs);
      this.session.outcome(statedFailure(plainText(entry.content)), atMs);
    } else if (entry.type === 'info' && /^request cancelled/i.test(plainText(entry.content))) {
      this.session.outcome({ outcome: 'aborted', reason: 'interrupted' }, atMs);
    } else this.skipped.add(`${plainText(entry.type)} entries`);
  }

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
      emittedCount === undefined ? [...thoughtsOf(entry), ...geminiBlocks(entry.content)] : [];
    for (const call of newCalls) {
      parts.push({ type: 'call', call: namedCall(call.id, call.name, call.args) });
    }
    const piece = {
      messageId: plainText(entry.id),
      parts,
      modelId: textOrUndefined(entry.model),
      usage: emittedCount === undefined ? geminiUsage(membersOf(entry.tokens)) : undefined,
    };
    // The entry has the time at which its calls had ended.
    const startsMs = newCalls.map(({ id }) => startOf(id)).filter((startMs) => startMs !== undefined);
    const answeredMs = atMs === undefined ? [] : [atMs];
    yield* this.session.answer(piece, startsMs.length === 0 ? atMs : Math.min(...startsMs, ...answeredMs));
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

/** The time in the id of a call: `replace_1772143836797_0`, `read_file-1762476097602-336700d91dc39`. */
function startOf(id: unknown): number | undefined {
  const [, time] = /[-_](1[5-9]\d{11})[-_]/.exec(plainText(id)) ?? [];
  return time === undefined ? undefined : Number(time);
}

/** Converts parts of the Gemini API to blocks. Results are skipped, because they belong to their calls. */
export function geminiBlocks(content: unknown): readonly StoredContentBlock[] {
  return messageBlocks({ content }).parts.filter((part) => part.type !== 'call');
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
  return namedUsage({
    input_tokens: tokens.input,
    output_tokens: (numberOrUndefined(tokens.output) ?? 0) + (numberOrUndefined(tokens.thoughts) ?? 0),
    cache_read_tokens: tokens.cached,
    reasoning_tokens: tokens.thoughts,
  });
}

/** The lines have what a person would see, and the exit code only if the command printed nothing else. */
const EXIT = /^Command exited with code: (\d+)/m;
const SHELL = 'run_shell_command';

class GeminiStream extends ObjectLines {
  readonly #source: ImportSource;
  #run: GeminiRun;
  /** Undefined before the first line of the stream. */
  #sessionId: string | undefined;
  readonly #shellCalls = new Set<string>();
  #modelId: string | undefined;
  /** Buffered text of the model. The text arrives in parts. */
  #text = '';
  #textAtMs: number | undefined;

  constructor(source: ImportSource) {
    super();
    this.#source = source;
    this.#run = new GeminiRun({ id: sourceStem(source) });
  }

  *entry(value: JsonMembers): Generator<ImportItem> {
    const atMs = sourceTimeMs(value.timestamp);
    if (atMs === undefined) {
      this.skipped.add('lines beside the stream');
      return;
    }
    if (value.type === 'message' && value.role === 'assistant') {
      this.#textAtMs ??= atMs;
      this.#text += plainText(value.content ?? '');
      return;
    }
    yield* this.#flushText();
    const { session } = this.#run;
    switch (value.type) {
      case 'init': {
        const id = textOrUndefined(value.session_id);
        this.#modelId = textOrUndefined(value.model);
        if (id === undefined || id === this.#sessionId) break;
        if (this.#sessionId !== undefined) {
          // Another process wrote to the same file.
          yield* this.#run.finish();
          this.#run = new GeminiRun({ id: sourceStem(this.#source) });
        }
        this.#sessionId = id;
        this.#run.session.identify({ id, conversationId: id });
        break;
      }
      case 'message':
        yield* this.#run.user(sourceBlocks(value.content), atMs);
        break;
      case 'tool_use': {
        const call = namedCall(value.tool_id, value.tool_name, value.parameters);
        if (call.name === SHELL && call.sourceId !== undefined) this.#shellCalls.add(call.sourceId);
        yield* session.answer({ joins: true, parts: [{ type: 'call', call }], modelId: this.#modelId }, atMs);
        break;
      }
      case 'tool_result':
        yield* session.result({ ...this.#resultOf(value), atMs });
        break;
      case 'error':
        // The answer ends here, for example because a hook makes the agent continue. Another answer follows.
        session.closeAnswer();
        if (value.severity === 'error') yield* this.#failureItems(value.message, atMs);
        else this.skipped.add('warnings');
        break;
      case 'result':
        yield* this.#resultItems(value, atMs);
        break;
      default:
        this.skipped.add(plainText(value.type));
    }
  }

  *finish(): Generator<ImportItem> {
    yield* this.#flushText();
    yield* this.#run.finish();
  }

  *#flushText(): Generator<ImportItem> {
    if (this.#text === '') return;
    const piece = { joins: true as const, parts: [sourceBlock(this.#text)], modelId: this.#modelId };
    this.#text = '';
    yield* this.#run.session.answer(piece, this.#textAtMs);
    this.#textAtMs = undefined;
  }

  #resultOf(value: JsonMembers): { sourceId: string | undefined; result: string; isError: boolean | undefined } {
    const sourceId = textOrUndefined(value.tool_id);
    const isShell = sourceId !== undefined && this.#shellCalls.delete(sourceId);
    const hasFailed = value.status === 'error';
    const shownText = plainText(value.output ?? '');
    const result = hasFailed ? plainText(membersOf(value.error).message ?? shownText) : shownText;
    const exitCode = EXIT.exec(result)?.[1];
    const isError = exitCode === undefined ? undefined : exitCode !== '0';
    // The status of a shell call describes the tool, not the command.
    return { sourceId, result, isError: hasFailed || (isShell ? isError : false) };
  }

  *#resultItems(value: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    const { message } = membersOf(value.error);
    this.#run.session.usage(usageOf(membersOf(value.stats)));
    if (typeof message === 'string') yield* this.#failureItems(message, atMs);
    this.#run.session.outcome(value.status === 'success' ? 'ended' : 'error', atMs);
  }

  *#failureItems(message: unknown, atMs: number | undefined): Generator<ImportItem> {
    yield* this.#run.session.failure(plainText(message), atMs);
  }
}

/** The totals of the session, stored with its last answer. Thoughts count neither as input nor as output. */
function usageOf(stats: JsonMembers): StoredUsage | undefined {
  const input = numberOrUndefined(stats.input_tokens);
  const output = numberOrUndefined(stats.output_tokens);
  if (input === undefined || output === undefined) return undefined;
  const total = numberOrUndefined(stats.total_tokens) ?? 0;
  return namedUsage({
    input_tokens: input,
    output_tokens: Math.max(output, total - input),
    cache_read_tokens: stats.cached,
  });
}

/** `~/.gemini/tmp/<project>/chats/session-*.jsonl`: a chat is a run. A subagent's folder is named after its parent. */
export const geminiChatImporter: LineImporter = {
  shape: 'lines',
  format: 'gemini',
  recognise(firstLines) {
    const lines = firstLines.map((line) => membersOf(line));
    if (lines.some((line) => isHeader(line))) return 0.97;
    const knownLines = lines.filter((line) => isJsonObject(line.$set) || isEntry(line));
    return knownLines.length === lines.length ? 0.8 : 0;
  },
  open: (source) => new GeminiChat(source),
};

export const geminiDocumentImporter: DocumentImporter = {
  shape: 'document',
  format: 'gemini',
  recognise: (document) => (isHeader(membersOf(document)) && Array.isArray(membersOf(document).messages) ? 0.98 : 0),
  *read(document, source) {
    const chat = new GeminiChat(source);
    const header = membersOf(document);
    yield* chat.line({ ...header, messages: undefined }, 1);
    for (const entry of listOf(header.messages)) yield* chat.line(entry, 1);
    yield* chat.end();
  },
};

const STREAM_TYPES: ReadonlySet<unknown> = new Set(['init', 'message', 'tool_use', 'tool_result', 'error', 'result']);

export const geminiStreamImporter: LineImporter = {
  shape: 'lines',
  format: 'gemini',
  recognise(firstLines) {
    const lines = firstLines.map((line) => membersOf(line));
    // pi has messages too, with the role inside.
    const knownLines = lines.filter(
      ({ role, timestamp, type }) =>
        STREAM_TYPES.has(type) && typeof timestamp === 'string' && (type !== 'message' || typeof role === 'string'),
    );
    if (knownLines.length === 0) return 0;
    // A program around it may have written lines of its own before it.
    const isWhole = knownLines.some(
      ({ model, session_id, type }) => type === 'init' && typeof session_id === 'string' && typeof model === 'string',
    );
    if (knownLines.length < lines.length) return isWhole ? 0.6 : 0;
    return isWhole ? 0.98 : 0.7;
  },
  open: (source) => new GeminiStream(source),
};

class GeminiChat extends ObjectLines {
  readonly #run: GeminiRun;
  readonly #source: ImportSource;

  constructor(source: ImportSource) {
    super();
    this.#source = source;
    this.#run = new GeminiRun({ id: sourceStem(source) });
  }

  *entry(value: JsonMembers, lineNumber: number): Generator<ImportItem> {
    if (typeof value.$rewindTo === 'string') yield* this.#run.rewind(undefined);
    else if (isJsonObject(value.$set)) {
      const { messages, lastUpdated } = value.$set;
      if (Array.isArray(messages)) yield* this.#run.history(messages, sourceTimeMs(lastUpdated));
    } else if (isEntry(value)) yield* this.#run.entry(value);
    else if (isHeader(value)) this.#readHeader(value);
    else this.lost.add('lines of an unknown form', lineNumber);
  }

  *finish(): Generator<ImportItem> {
    yield* this.#run.finish();
  }

  #readHeader(header: JsonMembers): void {
    const id = textOrUndefined(header.sessionId);
    if (id === undefined) return;
    const parentId = header.kind === 'subagent' ? basename(dirname(this.#source.path)) : undefined;
    const startedAtMs = sourceTimeMs(header.startTime);
    this.#run.session.identify({ id, conversationId: parentId ?? id, ...present({ parentId, startedAtMs }) });
  }
}

function isHeader(line: JsonMembers): boolean {
  return typeof line.sessionId === 'string' && typeof line.projectHash === 'string';
}

function isEntry(line: JsonMembers): boolean {
  return (
    typeof line.id === 'string' && typeof line.type === 'string' && line.parentId === undefined && 'content' in line
  );
}
