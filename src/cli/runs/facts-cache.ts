import { createHash } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';

import { jsonOf } from '../../core/base/json.ts';
import type { RunFacts } from '../../core/facts/run-facts.ts';
import { makeOwnFolder } from '../../core/node/guarded-file.ts';

/** Increase this number when `RunFacts`, or what a failed call or a key is, changes. Rows of other layouts are not read. */
const LAYOUT = 23;
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
        'PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA busy_timeout = 200; DROP TABLE IF EXISTS places; CREATE TABLE IF NOT EXISTS facts (place BLOB PRIMARY KEY, print TEXT NOT NULL, runs TEXT NOT NULL, keys BLOB NOT NULL); BEGIN',
      );
      this.#database = database;
      this.#find = database.prepare('SELECT print, runs, keys FROM facts WHERE place = ?');
    });
  }

  /** @param print  a text that changes with the file or the stored run */
  get(place: string, print: string): readonly RunFacts[] | undefined {
    return this.#use((database) => {
      const row = database && this.#find?.get(keyOf(place));
      if (row?.['print'] !== `${LAYOUT} ${print}`) return undefined;
      const { keys } = row;
      if (!(keys instanceof Uint8Array)) return undefined;
      // `put` stores the same shape. Rows of another layout have another print.
      const runs = jsonOf(String(row['runs'])) as readonly RunFacts[] | undefined;
      return runs === undefined ? undefined : withKeys(runs, keys);
    });
  }

  put(place: string, print: string, runs: readonly RunFacts[]): void {
    this.#use((database) =>
      database
        ?.prepare('INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?)')
        .run(
          keyOf(place),
          `${LAYOUT} ${print}`,
          JSON.stringify(runs.map((run) => ({ ...thinFacts(run), keys: [run.keys.length] }))),
          new Uint8Array(Float64Array.from(runs.flatMap(({ keys }) => keys)).buffer),
        ),
    );
  }

  close(): void {
    this.#use((database) => {
      database?.exec(`DELETE FROM facts WHERE rowid <= (SELECT max(rowid) - ${MAX_PLACES} FROM facts); COMMIT`);
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
function keyOf(place: string): Uint8Array {
  return createHash('sha256').update(place).digest();
}

/** The keys of calls are most of the facts of a run, and numbers take long to read as text. */
function withKeys(runs: readonly RunFacts[], bytes: Uint8Array): readonly RunFacts[] {
  const numbers = new Float64Array(bytes.slice().buffer);
  let start = 0;
  return runs.map((run) => {
    const end = start + (run.keys[0] ?? 0);
    const keys = Array.from(numbers.subarray(start, end));
    start = end;
    return { ...run, keys };
  });
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
  const { task: _task, ...kept } = facts;
  return { ...kept, ...none, filesChanged: [], previews: {}, strip: { cells: '', callsPerColumn: 1 } };
}
