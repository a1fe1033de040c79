import { type JsonMembers, isJsonObject } from '../../core/base/json.ts';
import { CoxswainError, messageOf } from '../../core/base/error.ts';
import type { ImportItem } from '../import-item.ts';
import { decodeJson } from '../reading/json-text.ts';
import { opencodeSession } from './opencode-run.ts';

/** The first bytes of SQLite files. */
export const SQLITE_MAGIC: Buffer = Buffer.from('SQLi');
const TABLES = ['message', 'part', 'session'];
const MAX_TABLES_NAMED = 8;

/**
 * Reads every session of opencode's database (`opencode.db`, versions since 1.2), oldest first. Opened read-only.
 *
 * @throws CoxswainError `format-unknown` for another database, `input-io` if it cannot be read
 * Memory: one message with its parts, the session ids and the message ids of one session.
 */
export async function* readOpencodeDatabase(path: string): AsyncGenerator<Iterable<ImportItem>> {
  // Loaded on demand.
  const { DatabaseSync } = await import('node:sqlite');
  const database = readBy(() => new DatabaseSync(path, { readOnly: true }));
  try {
    const selectRows = (sql: string, ...parameters: readonly string[]): readonly JsonMembers[] =>
      readBy(() => database.prepare(sql).all(...parameters));
    // Checks tables only, because a view with that name could contain anything.
    const tables = selectRows("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE TABLE%'");
    const names = tables.map(({ name }) => String(name)).sort();
    if (names.includes('records') && names.includes('removed_runs')) {
      const readers = 'coxswain report, backtest and view read it, and coxswain export writes its runs as files';
      throw new CoxswainError('format-unknown', `a store of coxswain: ${readers}`);
    }
    if (TABLES.some((name) => !names.includes(name))) {
      const tableNames = names
        .slice(0, MAX_TABLES_NAMED)
        .join(', ')
        .replaceAll(/[^\x20-\x7e]/g, '?');
      throw new CoxswainError('format-unknown', `a SQLite database with the tables ${tableNames}, not one of opencode`);
    }
    const sessions = selectRows('SELECT id, parent_id AS parentID, agent FROM session ORDER BY time_created, id');
    for (const { id, parentID, agent } of sessions) {
      yield opencodeSession({ id, parentID, agent }, messagesOf(String(id), selectRows), String(id));
    }
  } finally {
    database.close();
  }
}

function* messagesOf(
  sessionId: string,
  select: (sql: string, ...parameters: readonly string[]) => readonly JsonMembers[],
): Generator<{ readonly info: JsonMembers; readonly parts: readonly unknown[] }> {
  const messages = select('SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id', sessionId);
  for (const { id } of messages) {
    const [info] = select('SELECT id, data FROM message WHERE id = ?', String(id));
    const parts = select('SELECT id, data FROM part WHERE message_id = ? ORDER BY id', String(id));
    if (info !== undefined) yield { info: storedData(info), parts: parts.map((part) => storedData(part)) };
  }
}

/** Returns a row's document with the id of the row. */
function storedData({ id, data }: JsonMembers): JsonMembers {
  const decoded = typeof data === 'string' ? decodeJson(data) : undefined;
  return decoded?.ok === true && isJsonObject(decoded.value) ? { ...decoded.value, id } : { id };
}

function readBy<T>(readValue: () => T): T {
  try {
    return readValue();
  } catch (error) {
    throw new CoxswainError('input-io', `the SQLite database cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
