import { checkMembers } from '../../core/base/check-members.ts';
import { CoxswainError, invalidArgument } from '../../core/base/error.ts';
import { parseRecord } from '../../core/records/decode-record.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { checkBatch, isRunId } from '../../core/store/check-batch.ts';
import { checkReadQuery } from '../../core/store/page-cursor.ts';
import { createPostgresAppend, type PostgresAppend } from './postgres-append.ts';
import { clientFromPool, type PgPool, type PostgresClient, type PostgresRow, withRetry } from './postgres-client.ts';
import {
  bytesOfRow,
  bytesOfSchema,
  createPostgresDeletion,
  createPostgresTransaction,
  FoldError,
} from './postgres-transact.ts';
import {
  RUN_COLUMNS,
  toListedSummary,
  toRunRow,
  toStoredRow,
  type PostgresRunRow,
  fromIdText,
  toIdText,
} from './postgres-run-row.ts';
import { openPostgresSchema } from './postgres-schema.ts';
import {
  listSql,
  tailChannelOf,
  createPostgresAnnouncer,
  tailPostgres,
  type PostgresAnnouncer,
  type RunEnd,
  verifyPostgres,
} from './postgres-tail.ts';
import { pageSql, searchPostgres } from './postgres-search.ts';
import { checkRunQuery, toRunPage } from '../../core/store/run-page.ts';
import { lastSeqOf, type RunSummary } from '../../core/facts/run-summary.ts';
import { checkSearchQuery } from '../../core/store/search-page.ts';
import { storeClosed, storeDamaged, toStoreError } from '../../core/store/store-error.ts';
import type {
  ReadQuery,
  RunChange,
  RunPage,
  RunQuery,
  StoredRun,
  SearchPage,
  SearchQuery,
  StoreProblem,
  TrajectoryStore,
} from '../../core/store/trajectory-store.ts';

export type { PgPool, PgPoolClient, PgQueryable, PgStatement, PostgresRow, PostgresValue } from './postgres-client.ts';
export type { RunEnd } from './postgres-tail.ts';

export interface PostgresStoreOptions {
  /** Name of the schema: lower-case letters, digits and `_`, at most 40; default `coxswain`. */
  readonly schema?: string;
  /** How long a call retries after a lost connection, in milliseconds; default 30,000. */
  readonly retryForMs?: number;
  /** Creates no schema; a missing one throws `input-io`. A search still adds to the index if it may. Default false. */
  readonly isReadOnly?: boolean;
  /** If true, `close()` also ends the pool. Default false: the caller ends it. */
  readonly endHandle?: boolean;
}

export interface PostgresStore extends TrajectoryStore {
  /**
   * Follows one run or all of them: yields a run's last `seq` whenever it grows, usually within 30 ms, at the latest after two
   * seconds. For a single stored run it first yields the current end. Read the records with `readRun(runId, { fromSeq })`. Ends when
   * the signal is aborted or the store is closed. `onReady` is called once; growth is reported from then on.
   *
   * The iteration throws CoxswainError `store-io` if it cannot begin, and `store-closed`.
   * Cost: a separate connection during the iteration.
   */
  tail(
    runId?: string,
    options?: { readonly signal?: AbortSignal; readonly onReady?: () => void },
  ): AsyncIterable<RunEnd>;
}

const DEFAULT_SCHEMA = 'coxswain';
const DEFAULT_RETRY_MS = 30_000;
const RECORDS_A_PAGE = 2000;

/**
 * A store in a PostgreSQL database (14 or later), for many machines. The first call creates the schema. Any number of processes may
 * use it at a time.
 *
 * Durability: when `append` resolves, the server has committed: on its disk, and with synchronous replication on the standbys that it
 * waits for (`docs/postgres.md`). A call is retried after a lost connection; nothing is stored twice.
 *
 * Cost: an append is one statement if this process wrote the run's last records, otherwise a transaction. `listRuns`, `findRun` and
 * `readRun` use an index. `deleteRun` is one transaction, which does not block other runs; `sizeOf` counts records and snapshots as
 * JSON, without indexes, and reads each run's row.
 *
 * @param pool  a `Pool` of the package `pg`
 * @throws CoxswainError `invalid-argument` for an option out of range, or anything but a pool
 */
export function postgresStore(pool: PgPool, options: PostgresStoreOptions = {}): PostgresStore {
  checkMembers('postgresStore', options, { schema: true, retryForMs: true, isReadOnly: true, endHandle: true });
  const { schema = DEFAULT_SCHEMA, retryForMs = DEFAULT_RETRY_MS } = options;
  if (!/^[a-z_][a-z0-9_]{0,39}$/.test(schema)) {
    throw invalidArgument(`schema must be at most 40 lower-case letters, digits and _, got ${JSON.stringify(schema)}`);
  }
  if (!Number.isFinite(retryForMs) || retryForMs < 0) {
    throw invalidArgument(`retryForMs must be a number from 0, got ${retryForMs}`);
  }
  return new PostgresTrajectoryStore(createClient(pool), { ...options, schema, retryForMs });
}

function createClient(pool: PgPool): PostgresClient {
  // A caller in JavaScript may pass an address, which may hold a password.
  if (typeof pool === 'object' && pool !== null && 'connect' in pool && 'query' in pool) return clientFromPool(pool);
  throw invalidArgument('a PostgreSQL store needs a Pool of the package pg: new Pool({ connectionString })');
}

interface Settings extends PostgresStoreOptions {
  readonly schema: string;
  readonly retryForMs: number;
}

class PostgresTrajectoryStore implements PostgresStore {
  readonly #client: PostgresClient;
  readonly #settings: Settings;
  readonly #append: PostgresAppend;
  readonly #announcer: PostgresAnnouncer;
  readonly #closing = new AbortController();
  readonly #writes = new Map<string, Promise<unknown>>();
  #opening: Promise<string> | undefined;
  #closePromise: Promise<void> | undefined;

  constructor(client: PostgresClient, settings: Settings) {
    this.#client = client;
    this.#settings = settings;
    this.#append = createPostgresAppend(client);
    this.#announcer = createPostgresAnnouncer(client, tailChannelOf(settings.schema));
  }

  async append(batch: readonly TrajectoryRecord[]): Promise<number> {
    this.#requireOpen();
    const checkedBatch = checkBatch(batch);
    const { runId } = checkedBatch;
    return this.#runInOrder(runId, () =>
      this.#attempt('append to', async (schema, attempts) => {
        const lastSeq = await this.#append(schema, checkedBatch, attempts > 0);
        this.#announcer.announce({ runId, lastSeq });
        return lastSeq;
      }),
    );
  }

  async flush(): Promise<void> {
    this.#requireOpen();
    await Promise.allSettled(this.#writes.values());
  }

  close(): Promise<void> {
    this.#closePromise ??= this.#close();
    return this.#closePromise;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#writes.values());
    await this.#announcer.flush();
    if (this.#settings.endHandle !== true) return;
    try {
      await this.#client.end();
    } catch (thrown) {
      throw toStoreError(thrown, 'end the connections to PostgreSQL');
    }
  }

  async listRuns(query?: RunQuery): Promise<RunPage> {
    this.#requireOpen();
    const { limit, after, withBytes } = checkRunQuery(query);
    const afterId = toIdText(after?.runId ?? '');
    const minusStarted = after === undefined ? '-Infinity' : String(-after.startedAtMs);
    const rows = await this.#attempt('list', (schema) =>
      this.#client.query(listSql(schema, withBytes), [minusStarted, afterId, String(limit + 1)]),
    );
    const page = toRunPage(
      rows.map((row) => toListedSummary(row, fromIdText(String(row['id'])))),
      limit,
    );
    return withBytes ? { ...page, bytes: rows.slice(0, limit).map(bytesOfRow) } : page;
  }

  async deleteRun(runId: string): Promise<boolean> {
    this.#requireOpen();
    if (!isRunId(runId)) return false;
    const deleteAttempt = createPostgresDeletion(runId);
    return this.#runInOrder(runId, () =>
      this.#attempt('delete a run of', (schema, attempts) => deleteAttempt(this.#client, schema, attempts > 0)),
    );
  }

  async sizeOf(): Promise<number> {
    this.#requireOpen();
    return this.#attempt('read the size of', (schema) => bytesOfSchema(this.#client, schema));
  }

  async findRun(runId: string): Promise<RunSummary | undefined> {
    this.#requireOpen();
    if (!isRunId(runId)) return undefined;
    const [row] = await this.#queryRow(runId);
    return typeof row?.['summary'] === 'string' ? toListedSummary(row, runId) : undefined;
  }

  async *readRun(runId: string, query?: ReadQuery): AsyncGenerator<TrajectoryRecord, void, void> {
    const { fromSeq, limit } = checkReadQuery(query);
    this.#requireOpen();
    const run = await this.#findRow(runId);
    if (run === undefined) return;
    let nextSeq = fromSeq;
    let remaining = limit;
    while (remaining > 0) {
      const values = [run.month, run.runNo, String(nextSeq), String(Math.min(remaining, RECORDS_A_PAGE))];
      const rows = await this.#attempt('read', (schema) => this.#client.query(pageSql(schema), values));
      if (rows.length === 0) break;
      for (const row of rows) {
        this.#requireOpen();
        const { seq, json } = toStoredRow(row, runId);
        // The first record may follow a gap that started before `fromSeq`.
        if (seq !== nextSeq && (nextSeq > fromSeq || fromSeq === 0)) throw createMissingError(runId, nextSeq);
        const record = parseRecord(json);
        nextSeq = lastSeqOf(record) + 1;
        remaining -= 1;
        yield record;
      }
      this.#requireOpen();
    }
    const isIncomplete =
      remaining > 0 && (nextSeq > fromSeq || fromSeq === 0) && nextSeq <= (run.summary?.lastSeq ?? -1);
    // The run may have been deleted meanwhile.
    if (isIncomplete && (await this.#findRow(runId))?.runNo === run.runNo) throw createMissingError(runId, nextSeq);
  }

  async transact<Result>(runId: string, fold: (view: StoredRun) => RunChange<Result>): Promise<Result> {
    this.#requireOpen();
    if (!isRunId(runId)) {
      throw invalidArgument(`${JSON.stringify(runId).slice(0, 80)} is not a valid run id`);
    }
    const transaction = createPostgresTransaction(runId, fold);
    try {
      return await this.#runInOrder(runId, () =>
        this.#attempt('transact on', async (schema) => {
          const { result, lastSeq } = await transaction(this.#client, schema);
          if (lastSeq >= 0) this.#announcer.announce({ runId, lastSeq });
          return result;
        }),
      );
    } catch (thrown) {
      throw thrown instanceof CoxswainError && thrown.cause instanceof FoldError ? thrown.cause.thrown : thrown;
    }
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    this.#requireOpen();
    const checkedQuery = checkSearchQuery(query);
    if (checkedQuery.runId !== undefined && !isRunId(checkedQuery.runId)) return { hits: [], notIndexed: 0 };
    return this.#attempt('search', (schema) => searchPostgres(this.#client, schema, checkedQuery));
  }

  async *verify(): AsyncGenerator<StoreProblem, void, void> {
    this.#requireOpen();
    const schema = await this.#attempt('verify', (name) => Promise.resolve(name));
    const problems = verifyPostgres(this.#client, schema);
    for (;;) {
      const result = await this.#attempt('verify', () => problems.next(), 0);
      if (result.done === true) return;
      this.#requireOpen();
      yield result.value;
    }
  }

  async *tail(
    runId?: string,
    { onReady, ...options }: { readonly signal?: AbortSignal; readonly onReady?: () => void } = {},
  ): AsyncGenerator<RunEnd, void, void> {
    this.#requireOpen();
    const schema = await this.#attempt('tail', (name) => Promise.resolve(name));
    const signal =
      options.signal === undefined ? this.#closing.signal : AbortSignal.any([this.#closing.signal, options.signal]);
    try {
      yield* tailPostgres(this.#client, schema, runId, signal, onReady);
    } catch (thrown) {
      throw toStoreError(thrown, `tail the PostgreSQL schema ${schema}`);
    }
  }

  async #findRow(runId: string): Promise<PostgresRunRow | undefined> {
    if (!isRunId(runId)) return undefined;
    const [row] = await this.#queryRow(runId);
    return row === undefined ? undefined : toRunRow(row, runId);
  }

  async #queryRow(runId: string): Promise<readonly PostgresRow[]> {
    return this.#attempt('read', (schema) =>
      this.#client.query(`SELECT ${RUN_COLUMNS}, started_ms::text AS started FROM ${schema}.runs WHERE run_id = $1`, [
        toIdText(runId),
      ]),
    );
  }

  async #runInOrder<T>(runId: string, work: () => Promise<T>): Promise<T> {
    const previousWrite = this.#writes.get(runId) ?? Promise.resolve();
    const write = previousWrite.then(work, work);
    this.#writes.set(runId, write);
    try {
      return await write;
    } finally {
      if (this.#writes.get(runId) === write) this.#writes.delete(runId);
    }
  }

  /** Runs `work` on the schema. Repeats it after a lost connection. */
  async #attempt<T>(
    action: string,
    work: (schema: string, earlierAttempts: number) => Promise<T>,
    retryForMs = this.#settings.retryForMs,
  ): Promise<T> {
    try {
      return await withRetry(retryForMs, async (attempts) => work(await this.#open(), attempts));
    } catch (thrown) {
      throw toStoreError(thrown, `${action} the PostgreSQL schema ${this.#settings.schema}`);
    }
  }

  async #open(): Promise<string> {
    const { schema, isReadOnly = false } = this.#settings;
    const opening = (this.#opening ??= openPostgresSchema(this.#client, schema, isReadOnly));
    try {
      return await opening;
    } catch (thrown) {
      if (this.#opening === opening) this.#opening = undefined;
      throw thrown;
    }
  }

  #requireOpen(): void {
    if (this.#closePromise !== undefined) throw storeClosed();
  }
}

function createMissingError(runId: string, seq: number): CoxswainError {
  return storeDamaged({ runId, seq }, 'it is missing');
}
