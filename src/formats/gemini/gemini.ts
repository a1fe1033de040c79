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
import type { ImportItem } from '../import-item.ts';
import type { DocumentImporter, ImportSource, LineImporter } from '../importer.ts';
import { ObjectLines, plainText } from '../parts/object-lines.ts';
import { sourceStem, sourceTimeMs, asJson, sourceBlock, sourceBlocks } from '../parts/source-content.ts';
import { GeminiRun } from './gemini-run.ts';
import type { StoredUsage } from '../../core/records/agent-message.ts';

/**
 * Matches the exit code in the text of a shell result. The lines contain what a person would see, and the exit code only if
 * the command printed nothing else.
 */
const EXIT = /^Command exited with code: (\d+)/m;
const SHELL = 'run_shell_command';

/** Reads one `gemini --output-format stream-json`. */
class GeminiStream extends ObjectLines {
  readonly #run: GeminiRun;
  readonly #shellCalls = new Set<string>();
  #modelId: string | undefined;
  /** Buffered text of the model. The text arrives in parts. */
  #text = '';
  #textAtMs: number | undefined;

  constructor(source: ImportSource) {
    super();
    this.#run = new GeminiRun({ id: sourceStem(source) });
  }

  *entry(value: JsonMembers): Generator<ImportItem> {
    const atMs = sourceTimeMs(value.timestamp);
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
        if (id !== undefined) session.identify({ id, conversationId: id });
        break;
      }
      case 'message':
        yield* this.#run.user(sourceBlocks(value.content), atMs);
        break;
      case 'tool_use': {
        const name = textOrUndefined(value.tool_name) ?? 'unknown';
        const sourceId = textOrUndefined(value.tool_id);
        if (name === SHELL && sourceId !== undefined) this.#shellCalls.add(sourceId);
        const call = { sourceId, name, args: asJson(value.parameters ?? {}) };
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

/**
 * Reads the totals of the session, which are stored with its last answer. Thoughts are the tokens that count neither as input
 * nor as output.
 */
function usageOf(stats: JsonMembers): StoredUsage | undefined {
  const input = numberOrUndefined(stats.input_tokens);
  const output = numberOrUndefined(stats.output_tokens);
  if (input === undefined || output === undefined) return undefined;
  const total = numberOrUndefined(stats.total_tokens) ?? 0;
  return {
    input_tokens: input,
    output_tokens: Math.max(output, total - input),
    cache_read_tokens: numberOrUndefined(stats.cached) ?? 0,
  };
}

/**
 * Reads Gemini CLI chats (`~/.gemini/tmp/<project>/chats/session-*.jsonl`). A subagent's chat is in a folder named after its
 * parent. Each chat is a run.
 *
 * Memory: one entry, the last 8,192 entry ids, and the ids of the run's calls.
 */
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

/** Reads the chats of older Gemini CLI versions. Each chat is one JSON document. */
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

/** Reads the output of `gemini --output-format stream-json` as one run. */
export const geminiStreamImporter: LineImporter = {
  shape: 'lines',
  format: 'gemini',
  recognise(firstLines) {
    const lines = firstLines.map((line) => membersOf(line));
    const knownLines = lines.filter((line) => STREAM_TYPES.has(line.type) && typeof line.timestamp === 'string');
    if (knownLines.length === 0) return 0;
    const [first] = lines;
    const isWhole = first?.type === 'init' && typeof first.session_id === 'string' && typeof first.model === 'string';
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
    this.#run.session.identify({
      id,
      conversationId: parentId ?? id,
      ...present({ parentId }),
    });
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
