import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Buffer } from 'node:buffer';
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

import { CoxswainError } from '../../core/base/error.ts';
import { parseRecord } from '../../core/records/decode-record.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import {
  checkSearchQuery,
  compareHits,
  toSearchPage,
  type CheckedSearchQuery,
  createSearchScan,
} from '../../core/store/search-page.ts';
import { isBusy, whileBusy } from '../store-address.ts';
import { openReadOnly, type ReadOnlyDatabase } from './sqlite-database.ts';
import {
  findSqliteRun,
  listSqliteRuns,
  readSqliteRun,
  sqliteBytes,
  type SqliteRead,
  type SqliteSession,
} from './sqlite-reads.ts';
import { SqliteRowChecks } from './sqlite-row-checks.ts';
import { searchSqlite } from './sqlite-search.ts';
import { isNotRemoved, RECORD_COLUMNS } from './sqlite-statements.ts';
import { verifySqlite } from './sqlite-verify.ts';
import { storeClosed, toStoreError, type DamagedPlace } from '../../core/store/store-error.ts';
import type {
  LiveReader,
  ReadQuery,
  RunPage,
  RunQuery,
  SearchHit,
  SearchPage,
  SearchQuery,
  StoreProblem,
} from '../../core/store/trajectory-store.ts';

/** https://www.sqlite.org/fileformat2.html#walformat: big-endian; a log begins with 32 bytes, each of its pages with 24. */
const PAGE_BYTES = 4096;
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const LOG_MAGIC = 0x377f0682;

/** SQLite ignores the commits of the current generation after the first frame with a wrong checksum. */
function countLostCommits(path: string): number {
  const log = `${path}-wal`;
  if (!existsSync(log)) return 0;
  const fd = openSync(log, 'r');
  try {
    return countLostFrames(fd);
  } finally {
    closeSync(fd);
  }
}

function countLostFrames(fd: number): number {
  const bytes = fstatSync(fd).size;
  if (bytes <= LOG_HEADER_BYTES) return 0;
  const header = readAt(fd, 0, LOG_HEADER_BYTES);
  const isBigEndian = header.readUInt32BE(0) === LOG_MAGIC + 1;
  let checksum: LogChecksum = logChecksum([0, 0], header.subarray(0, 24), isBigEndian);
  let isValid = checksum[0] === header.readUInt32BE(24) && checksum[1] === header.readUInt32BE(28);
  // With a damaged header the first frame identifies the generation.
  const salt = isValid ? header.subarray(16, 24) : readAt(fd, LOG_HEADER_BYTES + 8, 8);
  let lostCommits = 0;
  // The last frame may be cut off.
  for (let start = LOG_HEADER_BYTES; start + FRAME_HEADER_BYTES < bytes; start += FRAME_HEADER_BYTES + PAGE_BYTES) {
    const frameHeader = readAt(fd, start, FRAME_HEADER_BYTES);
    if (!frameHeader.subarray(8, 16).equals(salt)) {
      isValid = false;
      continue;
    }
    const offset = start + FRAME_HEADER_BYTES;
    isValid &&= offset + PAGE_BYTES <= bytes;
    if (isValid) {
      checksum = logChecksum(
        logChecksum(checksum, frameHeader.subarray(0, 8), isBigEndian),
        readAt(fd, offset, PAGE_BYTES),
        isBigEndian,
      );
      isValid = checksum[0] === frameHeader.readUInt32BE(16) && checksum[1] === frameHeader.readUInt32BE(20);
    }
    // The size of the database in pages, if the frame ends a commit; else 0.
    if (frameHeader.readUInt32BE(4) > 0 && !isValid) lostCommits += 1;
  }
  return lostCommits;
}

type LogChecksum = readonly [number, number];

/** The log's checksum, over words of the endianness that its magic number gives. */
function logChecksum([first, second]: LogChecksum, bytes: Buffer, isBigEndian: boolean): LogChecksum {
  let [a, b] = [first, second];
  const readWord = (at: number): number => (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at));
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    a = (a + readWord(at) + b) >>> 0;
    b = (b + readWord(at + 4) + a) >>> 0;
  }
  return [a, b];
}

/** The result is shorter at the end of the file. */
function readAt(fd: number, offset: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  let length = 0;
  while (length < bytes) {
    const count = readSync(fd, buffer, length, bytes - length, offset + length);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}

const DEFAULT_TIMEOUT_MS = 1_000;
const OPEN_WAIT_MS = 100;
const MAX_CHANGED = 1_000;

/** A search scans this many of the latest records that are not in the index, and this many at a time. */
const MAX_SCANNED = 200_000;
const SCAN_RECORDS = 5_000;
/** Hits that a scan keeps for the next pages. Each takes about 500 bytes. */
const MAX_SCAN_HITS = 20_000;

interface ScanResult {
  readonly hits: readonly SearchHit[];
  readonly damaged: readonly DamagedPlace[];
  readonly notSearched: number;
}

interface KnownScan extends Omit<ScanResult, 'notSearched'> {
  readonly key: string;
  readonly after: CheckedSearchQuery['after'];
  readonly isComplete: boolean;
}

/**
 * Nothing in the folder changes (`openReadOnly`). A search also scans the latest 200,000 records that are not indexed
 * yet; `notIndexed` counts the others. `timeoutMs` for a lock: default 1,000.
 *
 * @throws CoxswainError `store-io`, `store-version`, `store-schema`, `store-damaged`
 */
export function openSqliteReader(file: string, options: { readonly timeoutMs?: number } = {}): LiveReader {
  return new Reader(resolve(file), options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
}

class Reader implements LiveReader {
  readonly #path: string;
  readonly #timeoutMs: number;
  #openDatabase: ReadOnlyDatabase;
  /** Times the file was opened; `data_version` is only comparable within one opening. */
  #openingCount = 1;
  #lastState: { readonly version: string; readonly lastId: number; readonly removals: string } | undefined;
  #lastScan: KnownScan | undefined;

  constructor(path: string, timeoutMs: number) {
    this.#path = path;
    this.#timeoutMs = timeoutMs;
    this.#openDatabase = this.#openFile();
  }

  async listRuns(query?: RunQuery): Promise<RunPage> {
    return await listSqliteRuns(this.#read, query);
  }

  async findRun(runId: string): Promise<RunSummary | undefined> {
    return await findSqliteRun(this.#read, runId);
  }

  readRun(runId: string, query?: ReadQuery): AsyncGenerator<TrajectoryRecord, void, void> {
    return readSqliteRun(this.#read, runId, query);
  }

  async sizeOf(): Promise<number> {
    return await this.#read('read the size of', ({ database }) => sqliteBytes(database));
  }

  async *verify(): AsyncGenerator<StoreProblem, void, void> {
    yield* verifySqlite(this.#read);
    yield* await this.#read('read the log of', () => checkLog(this.#path));
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    const checkedQuery = checkSearchQuery(query);
    // Scan first: a record that is indexed meanwhile is found twice, never missed.
    const scan = await this.#scanNotIndexed(checkedQuery);
    const { hits: indexedHits, damaged } = await this.#read('search', (session) => searchSqlite(session, checkedQuery));
    const indexedKeys = new Set(indexedHits.map((hit) => `${hit.seq} ${hit.runId}`));
    const scannedHits = scan.hits.filter((hit) => !indexedKeys.has(`${hit.seq} ${hit.runId}`));
    const hits = [...indexedHits, ...scannedHits].sort(compareHits);
    return toSearchPage(hits, checkedQuery.limit, {
      notIndexed: scan.notSearched,
      damaged: [...damaged, ...scan.damaged],
    });
  }

  async changes(): Promise<readonly string[] | undefined> {
    return await this.#read('read', ({ database }) => {
      const version = this.#versionOf(database);
      const before = this.#lastState;
      if (before?.version === version) return [];
      const row = database.prepare(STATE_SQL).get() ?? {};
      const state = { version, lastId: Number(row['last_id']), removals: String(row['removals']) };
      this.#lastState = state;
      if (before === undefined || before.removals !== state.removals || state.lastId < before.lastId) return undefined;
      const rows = database.prepare(CHANGED_SQL).all(before.lastId, MAX_CHANGED + 1);
      return rows.length > MAX_CHANGED ? undefined : rows.map(({ run_id: runId }) => String(runId));
    });
  }

  async close(): Promise<void> {
    this.#openDatabase.close();
  }

  /** Scans the latest records that are not in the index, unless the last scan has found the hits of this page too. */
  async #scanNotIndexed(query: CheckedSearchQuery): Promise<ScanResult> {
    const state = await this.#read('search', ({ database }) => database.prepare(INDEXED_SQL).get() ?? {});
    const [lastId, throughId] = [Number(state['last_id']), Number(state['through_id'])];
    const fromId = Math.max(throughId, lastId - MAX_SCANNED);
    const { after, limit, phrases, runId, kinds } = query;
    const key = JSON.stringify([phrases, runId, kinds, lastId, state['removals']]);
    const known = this.#lastScan;
    const isNext = known?.key === key && after !== undefined && compareHits(known.after ?? after, after) <= 0;
    const knownHits = isNext ? known.hits.filter((hit) => compareHits(after, hit) < 0) : [];
    const scan =
      isNext && (known.isComplete || knownHits.length > limit)
        ? { ...known, hits: knownHits }
        : { key, after, ...(await this.#scanRecords(query, fromId, lastId)) };
    // The hits take memory. The last page needs no further ones.
    this.#lastScan = scan.isComplete && scan.hits.length <= limit ? undefined : scan;
    return { hits: scan.hits.slice(0, limit + 1), damaged: scan.damaged, notSearched: Math.max(0, fromId - throughId) };
  }

  async #scanRecords(
    query: CheckedSearchQuery,
    fromId: number,
    lastId: number,
  ): Promise<Pick<KnownScan, 'hits' | 'damaged' | 'isComplete'>> {
    const limit = Math.max(query.limit, MAX_SCAN_HITS);
    const scan = createSearchScan({ ...query, limit });
    const checks = new SqliteRowChecks();
    const damaged: DamagedPlace[] = [];
    for (let id = lastId; id > fromId; id -= SCAN_RECORDS) {
      const rows = await this.#read('search', ({ database }) =>
        database.prepare(SCAN_SQL).all(Math.max(fromId, id - SCAN_RECORDS), id, likePattern(query.phrases)),
      );
      for (const row of rows) {
        try {
          scan.offer(parseRecord(checks.record(row).json));
        } catch (thrown) {
          if (!(thrown instanceof CoxswainError)) throw thrown;
          damaged.push({ runId: String(row['run_id']), seq: Number(row['seq']) });
        }
      }
      await nextTurn();
    }
    return { hits: scan.hits, damaged, isComplete: scan.hits.length <= limit };
  }

  /** Changes whenever the file changes. */
  #versionOf(database: DatabaseSync): string {
    return `${this.#openingCount} ${String(database.prepare('PRAGMA data_version').get()?.['data_version'])}`;
  }

  #openFile(): ReadOnlyDatabase {
    // SQLite blocks the thread while it waits, so the wait is short.
    return openReadOnly(this.#path, { timeoutMs: Math.min(this.#timeoutMs, OPEN_WAIT_MS) });
  }

  readonly #read: SqliteRead = async (action, work) => {
    try {
      return await whileBusy(() => this.#readOnce(work), this.#timeoutMs);
    } catch (thrown) {
      throw toStoreError(thrown, `${action} ${this.#path}`);
    }
  };

  /** Opens the file and reads again if a writer changed it meanwhile. */
  #readOnce<Result>(work: (session: SqliteSession) => Result): Result {
    for (;;) {
      const { session } = this.#openDatabase;
      if (!session.database.isOpen) throw storeClosed();
      let fault: { readonly thrown: unknown } | undefined;
      let result: Result | undefined;
      try {
        result = work(session);
      } catch (thrown) {
        fault = { thrown };
      }
      if (this.#openDatabase.isCurrent()) {
        if (fault !== undefined) throw fault.thrown;
        // `work` returned.
        return result as Result;
      }
      const reopened = this.#openFile();
      this.#openDatabase.close();
      this.#openDatabase = reopened;
      this.#openingCount += 1;
    }
  }
}

/** SQLite silently ignores what follows damage in the log. One ignored commit may be a writer's unacknowledged one. */
function checkLog(path: string): readonly StoreProblem[] {
  const lostCommits = countLostCommits(path) - 1;
  if (lostCommits < 1) return [];
  const problem = `the log is damaged; at least ${lostCommits} commits after the damage are not read`;
  return [{ place: `${path}-wal`, problem }];
}

const STATE_SQL =
  'SELECT (SELECT coalesce(max(id), 0) FROM records) AS last_id, ' +
  "(SELECT removals FROM indexing) || ' ' || (SELECT count(*) FROM removed_runs) AS removals";
const CHANGED_SQL = 'SELECT DISTINCT run_id FROM records WHERE id > ? LIMIT ?';
const INDEXED_SQL =
  "SELECT through_id, removals || ' ' || (SELECT count(*) FROM removed_runs) AS removals, " +
  '(SELECT coalesce(max(id), 0) FROM records) AS last_id FROM indexing';

const SCAN_SQL =
  `SELECT ${RECORD_COLUMNS} FROM records WHERE id > ? AND id <= ? AND json LIKE ? ESCAPE '!' ` +
  `AND ${isNotRemoved('records.run_id')} ORDER BY records.id DESC`;

function likePattern(phrases: readonly (readonly string[])[]): string {
  const plainWords = phrases.flat().filter((word) => /^[a-z0-9]+$/.test(word));
  const longestWord = plainWords.toSorted((a, b) => b.length - a.length)[0];
  return longestWord === undefined ? '%' : `%${longestWord}%`;
}

export function isLocked(thrown: unknown): boolean {
  return thrown instanceof Error && (isBusy(thrown) || isBusy(thrown.cause));
}
