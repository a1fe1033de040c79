import { hash } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';

import { jsonOf, present } from '../../core/base/json.ts';
import type { RunFacts } from '../../core/facts/run-facts.ts';
import { makeOwnFolder } from '../../core/node/guarded-file.ts';

/** Increase this number when `RunFacts`, or what a failed call or a key is, changes. Rows of other layouts are not read. */
const LAYOUT = 42;
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
        'PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA busy_timeout = 200; DROP TABLE IF EXISTS facts; CREATE TABLE IF NOT EXISTS kept (place BLOB PRIMARY KEY, print TEXT NOT NULL, runs TEXT NOT NULL, keys BLOB NOT NULL, instructions BLOB NOT NULL); BEGIN',
      );
      this.#database = database;
      this.#find = database.prepare('SELECT print, runs, keys, instructions FROM kept WHERE place = ?');
    });
  }

  /** @param print  a text that changes with the file or the stored run */
  get(place: string, print: string): readonly RunFacts[] | undefined {
    return this.#use((database) => {
      const row = database && this.#find?.get(keyOf(place));
      if (row?.['print'] !== `${LAYOUT} ${print}`) return undefined;
      const { instructions, keys } = row;
      if (!(keys instanceof Uint8Array) || !(instructions instanceof Uint8Array)) return undefined;
      // `put` stores the same shape. Rows of another layout have another print.
      const runs = jsonOf(String(row['runs'])) as readonly KeptRun[] | undefined;
      return runs === undefined ? undefined : wholeRuns(runs, { keys, instructions });
    });
  }

  put(place: string, print: string, runs: readonly RunFacts[]): void {
    this.#use((database) => {
      const kept = runs.map(({ instructions: _instructions, keys, ...run }) => ({ ...run, keyCount: keys.length }));
      const hasInstructions = runs.some(({ instructions }) => instructions.length > 0);
      const instructions = hasInstructions ? JSON.stringify(runs.map((run) => run.instructions)) : '';
      const keys = new Uint8Array(Float64Array.from(runs.flatMap((run) => Array.from(run.keys))).buffer);
      database
        ?.prepare('INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?, ?)')
        .run(keyOf(place), `${LAYOUT} ${print}`, JSON.stringify(kept), keys, Buffer.from(instructions));
    });
  }

  close(): void {
    this.#use((database) => {
      database?.exec(`DELETE FROM kept WHERE rowid <= (SELECT max(rowid) - ${MAX_PLACES} FROM kept); COMMIT`);
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
  return hash('sha256', place, 'buffer');
}

type KeptRun = Omit<RunFacts, 'keys' | 'instructions'> & { readonly keyCount: number };

/** Keys and instruction files are most of what is kept. Few runs are asked for their instruction files. */
function wholeRuns(
  runs: readonly KeptRun[],
  { instructions, keys }: { readonly keys: Uint8Array; readonly instructions: Uint8Array },
): readonly RunFacts[] {
  const aligned = keys.byteOffset % 8 === 0 ? keys : keys.slice();
  const numbers = new Float64Array(aligned.buffer, aligned.byteOffset, aligned.length / 8);
  let files: readonly RunFacts['instructions'][] | undefined;
  // `put` stores the same shape.
  const read = (): typeof files => jsonOf(Buffer.from(instructions).toString('utf8')) as typeof files;
  let start = 0;
  return runs.map((run, index) => {
    const end = start + run.keyCount;
    const whole = {
      ...run,
      keys: numbers.subarray(start, end),
      get instructions(): RunFacts['instructions'] {
        if (instructions.length > 0) files ??= read();
        return files?.[index] ?? [];
      },
    };
    start = end;
    return whole;
  });
}

/** What lessons need, as facts that have nothing else. */
export function thinFacts(facts: RunFacts): RunFacts {
  const { failures, id, instructions, keys, lastAtMs, parentId, problem, project, source, startedAtMs } = facts;
  const thin = {
    failures,
    id,
    instructions,
    keys,
    lastAtMs,
    source,
    startedAtMs,
    ...present({ parentId, problem, project }),
  };
  // Only what keeps failing is read of them.
  return thin as RunFacts;
}
