import type { DatabaseSync } from 'node:sqlite';

import { numberOrUndefined, textOrUndefined, type JsonMembers, isJsonObject } from '../../core/base/json.ts';
import { CoxswainError, messageOf } from '../../core/base/error.ts';
import type { ImportItem, SessionDatabase } from '../importer.ts';
import { decodeJson } from '../reading/json-text.ts';
import { GOOSE_TABLES, gooseSessions } from '../goose/goose.ts';
import { opencodeSession } from './opencode.ts';

export const SQLITE_MAGIC: Buffer = Buffer.from('SQLi');
const TABLES = ['message', 'part', 'session'];
const MAX_TABLES_NAMED = 8;

/**
 * `opencode.db` of versions since 1.2, or `sessions.db` of goose, oldest session first, opened read-only.
 *
 * @throws CoxswainError `format-unknown` for another database, `input-io` if it cannot be read
 */
export async function* readSessionDatabase(path: string): AsyncGenerator<Iterable<ImportItem>> {
  const database = openDatabase(path);
  try {
    const selectRows = selectIn(database);
    // Checks tables only, because a view with that name could contain anything.
    const tables = selectRows("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE TABLE%'");
    const names = tables.map(({ name }) => String(name)).sort();
    if (names.includes('records') && names.includes('removed_runs')) {
      const readers = 'coxswain report, backtest and view read it, and coxswain export writes its runs as files';
      throw new CoxswainError('format-unknown', `a store of coxswain: ${readers}`);
    }
    if (GOOSE_TABLES.every((name) => names.includes(name))) {
      yield* gooseSessions(selectRows);
      return;
    }
    if (TABLES.some((name) => !names.includes(name))) {
      const tableNames = names
        .slice(0, MAX_TABLES_NAMED)
        .join(', ')
        .replaceAll(/[^\x20-\x7e]/g, '?');
      throw new CoxswainError(
        'format-unknown',
        `a SQLite database with the tables ${tableNames}, not one of opencode or goose`,
      );
    }
    const sessions = selectRows('SELECT id, parent_id AS parentID, agent FROM session ORDER BY time_created, id');
    for (const { id, parentID, agent } of sessions) {
      const messages = selectRows('SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id', String(id));
      yield opencodeSession({ id, parentID, agent }, messagesOf(messages, selectRows), String(id));
    }
  } finally {
    database.close();
  }
}

/** Numbers of messages that are read at the end of a session, one after the other. */
const LAST_MESSAGES = [16, 256, 4_096];
const LATEST = 'SELECT id FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT ?';

const FOLDER = 'SELECT directory FROM session WHERE id = ?';
const CHANGED = 'SELECT max(time_updated) AS at FROM part WHERE session_id = ?';

export const opencodeDatabase: SessionDatabase = {
  shape: 'database',
  format: 'opencode',
  steps: LAST_MESSAGES.length,
  read(path, sessionId, step) {
    const limit = LAST_MESSAGES[step] ?? 1;
    return withDatabase(path, (select) => {
      const messages = select(LATEST, sessionId, String(limit)).toReversed();
      const items = [...opencodeSession({ id: sessionId }, messagesOf(messages, select), sessionId)];
      return { items, isWhole: messages.length < limit };
    });
  },
  changedAtMs: (path, sessionId) =>
    withDatabase(path, (select) => numberOrUndefined(select(CHANGED, sessionId)[0]?.['at']) ?? 0),
  folder: (path, sessionId) =>
    withDatabase(path, (select) => textOrUndefined(select(FOLDER, sessionId)[0]?.['directory'])),
};

type Select = (sql: string, ...parameters: readonly string[]) => readonly JsonMembers[];

function openDatabase(path: string): DatabaseSync {
  // Loaded on demand.
  const { DatabaseSync: Database } = process.getBuiltinModule('node:sqlite');
  return readBy(() => new Database(path, { readOnly: true }));
}

function withDatabase<Result>(path: string, read: (select: Select) => Result): Result {
  const database = openDatabase(path);
  try {
    return read(selectIn(database));
  } finally {
    database.close();
  }
}

function selectIn(database: DatabaseSync): Select {
  return (sql, ...parameters) => readBy(() => database.prepare(sql).all(...parameters));
}

function* messagesOf(
  messages: readonly JsonMembers[],
  select: Select,
): Generator<{ readonly info: JsonMembers; readonly parts: readonly unknown[] }> {
  for (const { id } of messages) {
    const [info] = select('SELECT id, data FROM message WHERE id = ?', String(id));
    const parts = select('SELECT id, data FROM part WHERE message_id = ? ORDER BY id', String(id));
    if (info !== undefined) yield { info: storedData(info), parts: parts.map((part) => storedData(part)) };
  }
}

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
