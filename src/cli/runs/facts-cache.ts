import { hash } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

import { systemClock } from '../../core/base/clock.ts';
import { type Json, jsonOf, present } from '../../core/base/json.ts';
import type { RunFacts } from '../../core/facts/run-facts.ts';
import { BUILD_HASH } from '../../core/node/build-hash.ts';
import { makeOwnFolder } from '../../core/node/guarded-file.ts';

/** Rows of another build are not read. Code that was not built reads only its own. */
const BUILD = BUILD_HASH ?? `${performance.timeOrigin}`;
const MAX_SOURCES = 20_000;
const MAX_BYTES = 200_000_000;
const MAX_WAITING_BYTES = 4_000_000;
/** Claude Code deletes sessions after as long. */
const MAX_AGE_MS = 30 * 24 * 3_600_000;
const DELETE_OLD = `DELETE FROM sources WHERE rowid IN (
  SELECT rowid FROM (
    SELECT rowid, row_number() OVER latest AS number, sum(octet_length(runs) + length(keys) + length(instructions)) OVER latest AS bytes
    FROM sources WINDOW latest AS (ORDER BY rowid DESC))
  WHERE number > ${MAX_SOURCES} OR bytes > ${MAX_BYTES})`;
const DELETE_EXPIRED = 'DELETE FROM sources WHERE at_ms < ?';

export interface KeptFacts {
  readonly runs: readonly RunFacts[];
  /** What else is known of the source. Default: null. */
  readonly about?: Json;
}

/** A row is valid as long as its file or stored run is unchanged. If the cache fails, everything is read again. */
export class FactsCache {
  readonly #path: string;
  #database: DatabaseSync | undefined;
  #find: StatementSync | undefined;
  #waiting: SQLInputValue[][] = [];
  #waitingBytes = 0;

  constructor(folder: string, name: 'failures' | 'reports' = 'failures') {
    this.#path = join(folder, `${name}.db`);
    this.#use(() => {
      makeOwnFolder(folder, folder);
      const database = new DatabaseSync(this.#path);
      this.#database = database;
      chmodSync(this.#path, 0o600);
      database.exec(
        'PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA busy_timeout = 200; DROP TABLE IF EXISTS facts; DROP TABLE IF EXISTS kept; CREATE TABLE IF NOT EXISTS sources (place BLOB PRIMARY KEY, print TEXT NOT NULL, at_ms INTEGER NOT NULL, runs TEXT NOT NULL, keys BLOB NOT NULL, instructions BLOB NOT NULL); BEGIN',
      );
      this.#find = database.prepare('SELECT print, runs, keys, instructions FROM sources WHERE place = ?');
    });
  }

  /** @param print  a text that changes with the file or the stored run */
  get(place: string, print: string): KeptFacts | undefined {
    return this.#use((database) => {
      const row = database && this.#find?.get(keyOf(place));
      if (row?.['print'] !== `${BUILD} ${print}`) return undefined;
      const { instructions, keys } = row;
      if (!(keys instanceof Uint8Array) || !(instructions instanceof Uint8Array)) return undefined;
      // `put` stores the same shape. Rows of another build have another print.
      const kept = jsonOf(String(row['runs'])) as { about: Json; runs: readonly KeptRun[] } | undefined;
      return kept === undefined ? undefined : { about: kept.about, runs: wholeRuns(kept.runs, { keys, instructions }) };
    });
  }

  put(place: string, print: string, { about = null, runs }: KeptFacts): void {
    if (this.#database === undefined) return;
    // In place of both members, so that the order of all members stays.
    const kept = runs.map((run): KeptRun => ({ ...run, instructions: null, keys: run.keys.length }));
    const hasInstructions = runs.some(({ instructions }) => instructions.length > 0);
    const instructions = Buffer.from(hasInstructions ? JSON.stringify(runs.map((run) => run.instructions)) : '');
    const keys = new Uint8Array(Float64Array.from(runs.flatMap((run) => Array.from(run.keys))).buffer);
    const text = JSON.stringify({ about, runs: kept });
    this.#waiting.push([keyOf(place), `${BUILD} ${print}`, systemClock.nowMs(), text, keys, instructions]);
    this.#waitingBytes += text.length + keys.length + instructions.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#write();
  }

  close(): void {
    if (this.#waiting.length > 0) {
      this.#write();
      this.#use((database) => {
        database?.prepare(DELETE_EXPIRED).run(systemClock.nowMs() - MAX_AGE_MS);
        database?.exec(`${DELETE_OLD}; COMMIT`);
      });
    }
    this.#use((database) => database?.close());
    this.#database = undefined;
  }

  /** Other commands wait only for this transaction, not for the reading of sources. */
  #write(): void {
    this.#use((database) => {
      database?.exec('COMMIT; BEGIN IMMEDIATE');
      const insert = database?.prepare('INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?)');
      for (const row of this.#waiting) insert?.run(...row);
      database?.exec('COMMIT; BEGIN');
    });
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  #use<Value>(work: (database: DatabaseSync | undefined) => Value): Value | undefined {
    try {
      return work(this.#database);
    } catch (error) {
      // A full disk, a damaged file or another process: the cache only saves time.
      const database = this.#database;
      this.#database = undefined;
      if (isDamage(error)) this.#discard(database);
      return undefined;
    }
  }

  #discard(database: DatabaseSync | undefined): void {
    try {
      database?.close();
      for (const end of ['', '-wal', '-shm']) rmSync(`${this.#path}${end}`, { force: true });
    } catch {
      // It stays damaged, and everything is read.
    }
  }
}

/** SQLite says that the file is no database, or that its content is damaged. */
function isDamage(error: unknown): boolean {
  // An error of SQLite has this member.
  const { errcode = 0 } = error as { readonly errcode?: number };
  return [11, 26].includes(errcode & 0xff);
}

/** A place may be the address of a store, which contains its password. */
function keyOf(place: string): Uint8Array {
  return hash('sha256', place, 'buffer');
}

type KeptRun = Omit<RunFacts, 'keys' | 'instructions'> & { readonly instructions: null; readonly keys: number };

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
    const end = start + run.keys;
    const whole = { ...run, keys: Array.from(numbers.subarray(start, end)) };
    start = end;
    return Object.defineProperty(whole, 'instructions', {
      enumerable: true,
      get(): RunFacts['instructions'] {
        if (instructions.length > 0) files ??= read();
        return files?.[index] ?? [];
      },
      // The getter gives the member its type.
    }) as unknown as RunFacts;
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
