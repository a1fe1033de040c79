import {
  type JsonMembers,
  isJsonObject,
  listOf,
  membersOf,
  numberOrUndefined,
  textOrUndefined,
} from '../../core/base/json.ts';
import { textOfContent } from '../../core/records/agent-message.ts';
import type { ImportItem, DocumentImporter, ImportSource, LineImporter } from '../importer.ts';
import { confidence, ObjectLines, plainText } from '../parts/object-lines.ts';
import { decodeJson } from '../reading/json-text.ts';
import type { AnswerPart } from '../parts/run-items.ts';
import { SessionItems } from '../parts/session-items.ts';
import { sourceBlock, sourceResult, sourceStem, sourceTimeMs, namedCall } from '../parts/source-content.ts';

const TOOL_BLOCKS: ReadonlySet<unknown> = new Set(['toolRequest', 'toolResponse']);

/** A session of goose: of `sessions.db`, of an export, or of a file of versions before the database. */
class GooseSession {
  readonly #session: SessionItems;

  constructor(id: string) {
    this.#session = new SessionItems({ id, conversationId: id, format: 'goose' });
  }

  identify(header: JsonMembers): void {
    const id = textOrUndefined(header.id);
    if (id !== undefined) this.#session.identify({ id, conversationId: id });
  }

  *message({ content, created, metadata, role }: JsonMembers): Generator<ImportItem> {
    const atMs = sourceTimeMs(created);
    const parts = listOf(content).map((part) => membersOf(part));
    const { inference, userVisible } = membersOf(metadata);
    if (role === 'assistant') {
      const { requestedModel, resolvedModel } = membersOf(inference);
      const modelId = textOrUndefined(resolvedModel) ?? textOrUndefined(requestedModel);
      yield* this.#session.answer({ parts: parts.map(answerPart), modelId }, atMs);
      return;
    }
    for (const part of parts)
      if (part.type === 'toolResponse') yield* this.#session.result({ ...resultOf(part), atMs });
    const blocks = parts.filter(({ type }) => type !== 'toolResponse').map((part) => sourceBlock(part));
    // The summary of a compaction, and other text of goose itself, is hidden from the user.
    if (role === 'user' && userVisible !== false) yield* this.#session.user(blocks, atMs, textOfContent(blocks));
    else yield* this.#session.system(blocks, atMs);
  }

  /** @param totals  the session with the sums of its tokens */
  *finish(totals: JsonMembers = {}): Generator<ImportItem> {
    const input = numberOrUndefined(totals.accumulated_input_tokens);
    const output = numberOrUndefined(totals.accumulated_output_tokens);
    if (input !== undefined && output !== undefined)
      this.#session.usage({ input_tokens: input, output_tokens: output });
    yield* this.#session.finish();
  }
}

function answerPart(part: JsonMembers): AnswerPart {
  if (part.type !== 'toolRequest') return sourceBlock(part);
  const { arguments: args, name } = insideOf(part.toolCall);
  return { type: 'call', call: namedCall(part.id, name, args) };
}

/** The result of a call: `{status, value}`, `{Ok}`, `{Err}`, or the value itself. */
function resultOf({
  id,
  toolResult,
}: JsonMembers): { readonly sourceId: string | undefined } & ReturnType<typeof read> {
  return { sourceId: textOrUndefined(id), ...read(toolResult) };
}

function read(toolResult: unknown): { readonly result: ReturnType<typeof sourceResult>; readonly isError: boolean } {
  const { Err, error, status } = membersOf(toolResult);
  const failure = error ?? Err;
  if (status === 'error' || failure !== undefined) return { result: plainText(failure ?? ''), isError: true };
  const value = insideOf(toolResult);
  const { content, isError } = value;
  return {
    result: sourceResult(content ?? (isJsonObject(toolResult) ? value : toolResult)),
    isError: isError === true,
  };
}

function insideOf(wrapper: unknown): JsonMembers {
  const { Ok, value } = membersOf(wrapper);
  return isJsonObject(value) ? value : isJsonObject(Ok) ? Ok : membersOf(wrapper);
}

function isMessage({ content, created, role }: JsonMembers): boolean {
  if ((role !== 'user' && role !== 'assistant') || typeof created !== 'number' || !Array.isArray(content)) return false;
  return content.every((part) => typeof membersOf(part).type === 'string');
}

function hasTools({ content }: JsonMembers): boolean {
  return listOf(content).some((part) => TOOL_BLOCKS.has(membersOf(part).type));
}

/** `~/.local/share/goose/sessions/*.jsonl` of versions before 1.10: a header and messages. */
export const gooseLinesImporter: LineImporter = {
  shape: 'lines',
  format: 'goose',
  recognise(firstLines) {
    const hasHeader = typeof membersOf(firstLines[0]).working_dir === 'string';
    const isSure = hasHeader || firstLines.some((line) => hasTools(membersOf(line)));
    return isSure ? confidence(firstLines.slice(hasHeader ? 1 : 0), isMessage, { all: 0.97, some: 0.8 }) : 0;
  },
  open: (source) => new GooseLines(source),
};

class GooseLines extends ObjectLines {
  readonly #session: GooseSession;

  constructor(source: ImportSource) {
    super();
    this.#session = new GooseSession(sourceStem(source));
  }

  *entry(value: JsonMembers, lineNumber: number): Generator<ImportItem> {
    if (isMessage(value)) yield* this.#session.message(value);
    else if (typeof value.working_dir !== 'string') this.lost.add('lines of an unknown form', lineNumber);
  }

  *finish(): Generator<ImportItem> {
    yield* this.#session.finish();
  }
}

/** The output of `goose session export --format json`. */
export const gooseDocumentImporter: DocumentImporter = {
  shape: 'document',
  format: 'goose',
  recognise(document) {
    const { conversation, working_dir: folder } = membersOf(document);
    return typeof folder === 'string' && listOf(conversation).some((one) => isMessage(membersOf(one))) ? 0.97 : 0;
  },
  *read(document, source) {
    const header = membersOf(document);
    const session = new GooseSession(sourceStem(source));
    session.identify(header);
    for (const message of listOf(header.conversation)) yield* session.message(membersOf(message));
    yield* session.finish(header);
  },
};

export const GOOSE_TABLES: readonly string[] = ['sessions', 'messages'];

/** @param select  rows of `sessions.db` */
export function* gooseSessions(
  select: (sql: string, ...parameters: readonly string[]) => readonly JsonMembers[],
): Generator<Iterable<ImportItem>> {
  for (const header of select('SELECT * FROM sessions ORDER BY created_at, id')) {
    const id = plainText(header.id);
    yield storedItems(id, header, select('SELECT * FROM messages WHERE session_id = ? ORDER BY id', id));
  }
}

function* storedItems(id: string, header: JsonMembers, messages: readonly JsonMembers[]): Generator<ImportItem> {
  const session = new GooseSession(id);
  for (const { content_json: content, created_timestamp: created, metadata_json: metadata, role } of messages)
    yield* session.message({ role, created, content: jsonIn(content), metadata: jsonIn(metadata) });
  yield* session.finish(header);
}

function jsonIn(text: unknown): unknown {
  const decoded = typeof text === 'string' ? decodeJson(text) : undefined;
  return decoded?.ok === true ? decoded.value : undefined;
}
