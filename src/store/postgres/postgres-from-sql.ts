import { isLostConnection, isReadOnly } from './postgres-retry.ts';
import type { PostgresClient, PostgresRow, PostgresSession, PostgresValue } from './postgres-client.ts';

/** The used part of the package `postgres`: the function itself or a transaction. */
export interface PostgresSqlSession {
  unsafe(
    text: string,
    values?: PostgresValue[],
    options?: { readonly prepare?: boolean },
  ): PromiseLike<readonly PostgresRow[]>;
}

/** The used part of `postgres(url)` of the package `postgres`. */
export interface PostgresSql extends PostgresSqlSession {
  begin(work: (session: PostgresSqlSession) => Promise<unknown>): Promise<unknown>;
  listen(
    channel: string,
    onMessage: (payload: string) => void,
    onListening: () => void,
  ): PromiseLike<{ unlisten(): Promise<void> }>;
  end(options?: { readonly timeout?: number }): Promise<void>;
}

/**
 * Maximum time in seconds that `end` waits for running statements. Without a limit, it would wait forever for statements of
 * lost connections.
 */
const END_WITHIN_SECONDS = 2;

/** Adapts a handle of the package `postgres`. */
export function clientFromSql(sql: PostgresSql): PostgresClient {
  return {
    ...sessionOf(sql),
    async transaction<T>(work: (session: PostgresSession) => Promise<T>): Promise<T> {
      let hasEnded = false;
      const transaction = sql.begin(async (session) => {
        try {
          // The result is wrapped in an object, because `begin` treats an array as a list of statements.
          return { result: await work(transactionSession(session, () => hasEnded)) };
        } catch (thrown) {
          // Version 3.4 sends ROLLBACK on a lost connection too, which ends the process with an uncaught TypeError.
          // `begin` rejects by itself when the connection is lost, so nothing is sent.
          if (isLostConnection(thrown) || (isReadOnly(thrown) && (await endConnection(session))))
            return neverResolves();
          throw thrown;
        }
      });
      try {
        // `begin` resolves to the result of its function.
        return ((await transaction) as { readonly result: T }).result;
      } finally {
        hasEnded = true;
      }
    },
    async listen(channel, listener): Promise<() => Promise<void>> {
      const listening = await sql.listen(
        channel,
        (payload) => listener.onMessage(payload),
        () => listener.onListening(),
      );
      return async () => {
        // The promise is not awaited, because on a lost connection it would wait for the server.
        listening.unlisten().catch(() => undefined);
      };
    },
    end: () => sql.end({ timeout: END_WITHIN_SECONDS }),
  };
}

function sessionOf(sql: PostgresSqlSession): PostgresSession {
  return {
    query: async (text, values) =>
      values === undefined ? sql.unsafe(text) : sql.unsafe(text, [...values], { prepare: true }),
  };
}

/**
 * Ends the connection of a transaction on a standby: the package would keep it, even with `target_session_attrs`, and the next one
 * may reach the primary.
 *
 * @returns true if the connection ends
 */
async function endConnection(session: PostgresSqlSession): Promise<boolean> {
  try {
    await session.unsafe('ROLLBACK; SELECT pg_terminate_backend(pg_backend_pid())');
    return true;
  } catch (thrown) {
    return isLostConnection(thrown);
  }
}

/** @param hasEnded  true once the transaction has ended, also by a lost connection */
function transactionSession(sql: PostgresSqlSession, hasEnded: () => boolean): PostgresSession {
  const session = sessionOf(sql);
  return { query: (text, values) => (hasEnded() ? neverResolves() : session.query(text, values)) };
}

function neverResolves(): Promise<never> {
  return new Promise(() => undefined);
}
