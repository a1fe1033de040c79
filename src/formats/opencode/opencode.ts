import { type JsonMembers, membersOf, textOrUndefined, isJsonObject } from '../../core/base/json.ts';
import { confidence, ObjectLines, documentsIn } from '../parts/object-lines.ts';
import type { ImportItem } from '../import-item.ts';
import type { DocumentImporter, ImportSource, LineImporter } from '../importer.ts';
import { sourceStem, sourceTimeMs } from '../parts/source-content.ts';
import { messagesOf, OpencodeRun, opencodeSession } from './opencode-run.ts';
import { dirname, join } from 'node:path';

const SESSION_ID = /^ses_\w{1,80}$/;

/**
 * The output of `opencode export`, or a session file of versions before 1.2 (`storage/session/<project>/<id>.json`),
 * whose messages and parts are in sibling folders.
 */
export const opencodeImporter: DocumentImporter = {
  shape: 'document',
  format: 'opencode',
  recognise(document) {
    const { info, messages, id, directory } = membersOf(document);
    if (Array.isArray(messages) && SESSION_ID.test(String(membersOf(info).id))) return 0.98;
    return typeof id === 'string' && SESSION_ID.test(id) && typeof directory === 'string' ? 0.95 : 0;
  },
  *read(document, source) {
    const { info, messages, ...stored } = membersOf(document);
    const isExport = isJsonObject(info);
    const id = textOrUndefined(stored.id) ?? '';
    const readMessages = isExport ? messagesOf(messages) : SESSION_ID.test(id) ? storedMessages(source.path, id) : [];
    yield* opencodeSession(isExport ? info : stored, readMessages, sourceStem(source));
  },
};

const LINE_TYPES: ReadonlySet<unknown> = new Set([
  'step_start',
  'step_finish',
  'text',
  'reasoning',
  'tool_use',
  'error',
]);

export const opencodeLinesImporter: LineImporter = {
  shape: 'lines',
  format: 'opencode',
  recognise(firstLines) {
    return confidence(firstLines, ({ type, sessionID }) => LINE_TYPES.has(type) && typeof sessionID === 'string', {
      all: 0.97,
      some: 0.8,
    });
  },
  open: (source) => new OpencodeLines(source),
};

class OpencodeLines extends ObjectLines {
  readonly #run: OpencodeRun;

  constructor(source: ImportSource) {
    super();
    this.#run = new OpencodeRun({ id: sourceStem(source) });
  }

  *entry(value: JsonMembers): Generator<ImportItem> {
    const id = textOrUndefined(value.sessionID);
    if (id !== undefined) this.#run.session.identify({ id, conversationId: id });
    const atMs = sourceTimeMs(value.timestamp);
    if (value.type === 'error') yield* this.#run.error(value.error, atMs);
    else {
      const part = membersOf(value.part);
      yield* this.#run.part(part, { atMs });
      if (part.type === 'step-finish') this.#run.finished(part.reason, atMs);
    }
  }

  *finish(): Generator<ImportItem> {
    yield* this.#run.session.finish();
  }
}

const ENTRY_ID = /^\w{1,80}$/;

/** Oldest first: the ids increase with time. Files that cannot be read are skipped. */
function* storedMessages(
  sessionFile: string,
  sessionId: string,
): Generator<{ readonly info: JsonMembers; readonly parts: readonly unknown[] }> {
  const storage = dirname(dirname(dirname(sessionFile)));
  for (const info of documentsIn(join(storage, 'message', sessionId))) {
    const id = textOrUndefined(info.id) ?? '';
    yield { info, parts: ENTRY_ID.test(id) ? [...documentsIn(join(storage, 'part', id))] : [] };
  }
}
