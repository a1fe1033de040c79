import { isJsonObject } from '../../base/json.ts';
import type { ImportItem } from '../import-item.ts';
import type { DocumentImporter, ImportSource, LineImporter } from '../importer.ts';
import { membersOf, type JsonMembers } from '../parts/json-member.ts';
import { ObjectLines } from '../parts/object-lines.ts';
import { textOrUndefined } from '../parts/source-content.ts';
import { sourceStem } from '../parts/source-name.ts';
import { sourceTimeMs } from '../parts/source-time.ts';
import { messagesOf, OpencodeRun, opencodeSession } from './opencode-run.ts';
import { storedMessages } from './opencode-storage.ts';

const SESSION_ID = /^ses_\w{1,80}$/;

/**
 * Reads what `opencode export` prints, and a session file of the storage folder that versions before 1.2 keep
 * (`storage/session/<project>/<id>.json`, whose messages and parts lie beside it).
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
    const read = isExport ? messagesOf(messages) : SESSION_ID.test(id) ? storedMessages(source.path, id) : [];
    yield* opencodeSession(isExport ? info : stored, read, sourceStem(source));
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

/** Reads the lines of `opencode run --format json`: one run. */
export const opencodeLinesImporter: LineImporter = {
  shape: 'lines',
  format: 'opencode',
  recognise(firstLines) {
    const known = firstLines.filter(
      (line) => isJsonObject(line) && LINE_TYPES.has(line.type) && typeof line.sessionID === 'string',
    );
    if (known.length === 0) return 0;
    return known.length === firstLines.length ? 0.97 : 0.8;
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
