import { type JsonMembers, listOf, membersOf, textOrUndefined } from '../../core/base/json-member.ts';
import { basename, dirname } from 'node:path';

import { present } from '../../core/base/present.ts';
import { isJsonObject } from '../../core/base/json.ts';
import type { ImportItem } from '../import-item.ts';
import type { DocumentImporter, ImportSource, LineImporter } from '../importer.ts';
import { ObjectLines } from '../parts/object-lines.ts';
import { sourceStem } from '../parts/source-name.ts';
import { sourceTimeMs } from '../parts/source-time.ts';
import { GeminiRun } from './gemini-run.ts';
import { GeminiStream } from './gemini-stream.ts';

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
