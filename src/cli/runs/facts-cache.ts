import { createHash } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';

import { jsonOf } from '../../core/base/json.ts';
import type { RunFacts } from '../../core/facts/run-facts.ts';
import { makeOwnFolder } from '../../core/node/guarded-file.ts';

/** Increase this number when `RunFacts`, or what a failed call or a key is, changes. Rows of other layouts are not read. */
const LAYOUT = 15;
const MAX_PLACES = 20_000;

/** A row is valid as long as its file or stored run is unchanged. If the cache fails, everything is read again. */
export class FactsCache {
  #database: DatabaseSync | undefined;
  #find: StatementSync | undefined;

  constructor(folder: string) {
    this.#use(() => {
      makeOwnFolder(folder, folder);
      const path = join(folder, 'failures.db');
      const database = new DatabaseSync(path);
      chmodSync(path, 0o600);
      database.exec(
        'PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA busy_timeout = 200; CREATE TABLE IF NOT EXISTS places (place TEXT PRIMARY KEY, print TEXT NOT NULL, runs TEXT NOT NULL); BEGIN',
      );
      this.#database = database;
      this.#find = database.prepare('SELECT print, runs FROM places WHERE place = ?');
    });
  }

  /** @param print  a text that changes with the file or the stored run */
  get(place: string, print: string): readonly RunFacts[] | undefined {
    return this.#use((database) => {
      const row = database && this.#find?.get(keyOf(place));
      if (row?.['print'] !== `${LAYOUT} ${print}`) return undefined;
      // `put` stores the same shape. Rows of another layout have another print.
      return jsonOf(String(row['runs'])) as readonly RunFacts[] | undefined;
    });
  }

  put(place: string, print: string, runs: readonly RunFacts[]): void {
    this.#use((database) =>
      database
        ?.prepare('INSERT OR REPLACE INTO places VALUES (?, ?, ?)')
        .run(keyOf(place), `${LAYOUT} ${print}`, JSON.stringify(runs.map(thinFacts))),
    );
  }

  close(): void {
    this.#use((database) => {
      database?.exec(`DELETE FROM places WHERE rowid <= (SELECT max(rowid) - ${MAX_PLACES} FROM places); COMMIT`);
      database?.close();
    });
    this.#database = undefined;
  }

  #use<Value>(work: (database: DatabaseSync | undefined) => Value): Value | undefined {
    try {
      return work(this.#database);
    } catch {
      // A full disk, a damaged file or another process: the cache only saves time.
      this.#database = undefined;
      return undefined;
    }
  }
}

/** A place may be the address of a store, which contains its password. */
function keyOf(place: string): string {
  return createHash('sha256').update(place).digest('hex');
}

export function thinFacts(facts: RunFacts): RunFacts {
  const none = {
    adviceTexts: [],
    checks: [],
    diagnostics: [],
    faultTexts: [],
    moments: [],
    patterns: [],
    recent: [],
  } as const;
  return { ...facts, ...none, filesChanged: [], previews: {}, strip: { cells: '', callsPerColumn: 1 } };
}
