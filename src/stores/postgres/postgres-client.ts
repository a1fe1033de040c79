import { wordSet } from '../../core/base/word-set.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs, systemClock } from '../../core/base/clock.ts';
import { codeOf, hasCode } from '../../core/base/error.ts';

/** A parameter. The statement casts the text to its type. */
export type PostgresValue = string | null;

export type PostgresRow = Readonly<Record<string, unknown>>;

export interface PostgresSession {
  /** Runs SQL. With values, it is one statement, prepared once per connection. Without values, it may be several statements. */
  query(text: string, values?: readonly PostgresValue[]): Promise<readonly PostgresRow[]>;
}

export interface PostgresListener {
  onMessage(payload: string): void;
  /** Called when listening starts, also after a lost connection. Earlier messages may be missing. */
  onListening(): void;
}

export interface PostgresClient extends PostgresSession {
  /** Runs BEGIN, `work` and COMMIT on one connection. If `work` throws, runs ROLLBACK and throws the same error. */
  transaction<T>(work: (session: PostgresSession) => Promise<T>): Promise<T>;
  /** Listens on a separate connection, reconnecting as needed, until the returned function is called. */
  listen(channel: string, listener: PostgresListener): Promise<() => Promise<void>>;
  end(): Promise<void>;
}

/** A statement of the package `pg`; a named one is prepared once per connection. */
export interface PgStatement {
  readonly name?: string;
  readonly text: string;
  readonly values?: PostgresValue[];
}

export interface PgQueryable {
  query(statement: PgStatement): Promise<{ readonly rows: readonly PostgresRow[] }>;
}

/** The used part of a pool client of the package `pg`. */
export interface PgPoolClient extends PgQueryable {
  on(event: 'notification', listener: (message: { readonly payload?: string | undefined }) => void): unknown;
  on(event: 'error' | 'end', listener: (error?: Error) => void): unknown;
  release(destroy?: boolean): void;
}

/** The used part of a `Pool` of the package `pg`. */
export interface PgPool extends PgQueryable {
  connect(): Promise<PgPoolClient>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'acquire', listener: (client: PgPoolClient) => void): unknown;
  end(): Promise<void>;
}

export function clientFromPool(pool: PgPool): PostgresClient {
  // Without a listener, a broken idle connection would end the process. The next statement reports the fault.
  pool.on('error', ignore);
  const watchedClients = new WeakSet<PgPoolClient>();
  // As for a connection in use. The promise of `connect` is too late, because the server may end the connection in the same packet.
  pool.on('acquire', (client) => {
    if (watchedClients.has(client)) return;
    watchedClients.add(client);
    client.on('error', ignore);
  });
  const statementNames = new Map<string, string>();

  function sessionOf(queryable: PgQueryable): PostgresSession {
    return {
      async query(text, values) {
        if (values === undefined) return (await queryable.query({ text })).rows ?? [];
        let name = statementNames.get(text);
        if (name === undefined) {
          name = `coxswain_${statementNames.size}_${Math.random().toString(36).slice(2)}`;
          statementNames.set(text, name);
        }
        return (await queryable.query({ name, text, values: [...values] })).rows;
      },
    };
  }

  return {
    ...sessionOf(pool),
    async transaction<T>(work: (session: PostgresSession) => Promise<T>): Promise<T> {
      const client = await pool.connect();
      let isReusable = false;
      try {
        await client.query({ text: 'BEGIN' });
        const result = await work(sessionOf(client));
        await client.query({ text: 'COMMIT' });
        isReusable = true;
        return result;
      } catch (thrown) {
        // A connection to a standby is dropped, because the next connection may reach the primary.
        isReusable = !hasCode(thrown, READ_ONLY) && (await rollBack(client));
        throw thrown;
      } finally {
        client.release(!isReusable);
      }
    },
    listen: (channel, listener) => listen(pool, channel, listener),
    end: () => pool.end(),
  };
}

/** @returns true if the connection can be reused; a broken one has rolled back already */
async function rollBack(client: PgPoolClient): Promise<boolean> {
  try {
    await client.query({ text: 'ROLLBACK' });
    return true;
  } catch {
    return false;
  }
}

async function listen(pool: PgPool, channel: string, listener: PostgresListener): Promise<() => Promise<void>> {
  let isStopped = false;
  let lossCount = 0;
  let releaseClient = (): boolean => false;

  async function connect(): Promise<void> {
    const client = await pool.connect();
    let isConnected = true;
    const release = (): boolean => {
      if (!isConnected) return false;
      isConnected = false;
      client.release(true);
      return true;
    };
    // A connection that is ending emits several events, also after its release.
    const onLost = (): void => {
      if (release()) reconnect();
    };
    client.on('error', onLost);
    client.on('end', onLost);
    client.on('notification', ({ payload }) => listener.onMessage(payload ?? ''));
    releaseClient = release;
    try {
      await client.query({ text: `LISTEN "${channel}"` });
    } catch (thrown) {
      // Otherwise `onLost` has already scheduled a reconnect.
      if (release()) throw thrown;
      return;
    }
    if (isStopped) release();
    if (!isConnected) return;
    lossCount = 0;
    listener.onListening();
  }

  function reconnect(): void {
    if (isStopped) return;
    lossCount += 1;
    setTimeout(
      () => {
        // Reconnects until stopped. The reader polls meanwhile.
        if (!isStopped) connect().catch(reconnect);
      },
      backoffMs(lossCount, RETRY_DELAYS),
    ).unref();
  }

  await connect();
  return async () => {
    isStopped = true;
    releaseClient();
  };
}

function ignore(): void {}

const RETRY_DELAYS = { firstMs: 20, longestMs: 1000 } as const;

/** SQLSTATEs with which the server ends or refuses a connection. */
const LOST_STATES = /^(?:08...|57P0[123]|53300)$/;

/** read_only_sql_transaction: a standby refuses a write. It may be promoted, or another server may be the primary. */
const READ_ONLY = '25006';

/** SQLSTATEs after which a retry may succeed: serialization_failure, deadlock_detected and a read-only server. */
const TRANSIENT_STATES: ReadonlySet<string> = new Set(['40001', '40P01', READ_ONLY]);

/** Codes of Node for a broken or failed connection. */
const LOST_CODES: ReadonlySet<string> = wordSet(
  'ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH',
);

/** Messages of the package `pg`, which has no codes for these. */
const LOST_MESSAGES =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|timeout expired)/;

export function isLostConnection(thrown: unknown): boolean {
  const code = codeOf(thrown);
  if (code !== undefined) return LOST_CODES.has(code) || LOST_STATES.test(code);
  return thrown instanceof Error && LOST_MESSAGES.test(thrown.message);
}

/** `attempt` receives the number of earlier attempts. Throws what the last attempt threw. */
export async function withRetry<T>(retryForMs: number, attempt: (earlierAttempts: number) => Promise<T>): Promise<T> {
  const endMs = systemClock.nowMs() + retryForMs;
  for (let attempts = 0; ; attempts += 1) {
    try {
      return await attempt(attempts);
    } catch (thrown) {
      const waitMs = backoffMs(attempts + 1, RETRY_DELAYS);
      const isTransient = isLostConnection(thrown) || TRANSIENT_STATES.has(codeOf(thrown) ?? '');
      if (!isTransient || systemClock.nowMs() + waitMs > endMs) throw thrown;
      await sleep(waitMs);
    }
  }
}
