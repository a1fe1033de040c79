import { isLostConnection, isReadOnly } from './postgres-retry.ts';
import type { PostgresClient, PostgresRow, PostgresSession, PostgresValue } from './postgres-client.ts';

/** Of the package `postgres`, what runs a statement: the function itself or a transaction. */
export interface PostgresSqlSession {
  unsafe(
    text: string,
    values?: PostgresValue[],
    options?: { readonly prepare?: boolean },
  ): PromiseLike<readonly PostgresRow[]>;
}

/** Of the package `postgres`, the part of `postgres(url)` that the store uses. */
export interface PostgresSql extends PostgresSqlSession {
  begin(work: (session: PostgresSqlSession) => Promise<unknown>): Promise<unknown>;
  listen(
    channel: string,
    onMessage: (payload: string) => void,
    onListening: () => void,
  ): PromiseLike<{ unlisten(): Promise<void> }>;
  end(options?: { readonly timeout?: number }): Promise<void>;
}

/** How long `end` waits for statements on their way, in seconds. Without a limit it waits for lost ones for ever. */
const END_WITHIN_SECONDS = 2;

/** Translates a handle of the package `postgres`. */
export function clientFromSql(sql: PostgresSql): PostgresClient {
  return {
    ...sessionOf(sql),
    async transaction<T>(work: (session: PostgresSession) => Promise<T>): Promise<T> {
      let isOver = false;
      const begun = sql.begin(async (session) => {
        try {
          // Boxed, because `begin` takes a list for a list of statements.
          return { result: await work(transactionSession(session, () => isOver)) };
        } catch (thrown) {
          // Version 3.4 sends its ROLLBACK also on a connection that is gone, which ends the process with an
          // uncaught TypeError. `begin` rejects on its own when the connection is lost, so nothing is sent.
          if (isLostConnection(thrown) || (isReadOnly(thrown) && (await endConnection(session)))) return never();
          throw thrown;
        }
      });
      try {
        // `begin` answers what its function answered.
        return ((await begun) as { readonly result: T }).result;
      } finally {
        isOver = true;
      }
    },
    async listen(channel, listener): Promise<() => Promise<void>> {
      const listening = await sql.listen(
        channel,
        (payload) => listener.onMessage(payload),
        () => listener.onListening(),
      );
      return async () => {
        // Not waited for: on a connection that is lost it would wait for the server to come back.
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
 * Ends the connection of a transaction that reached a standby: the package would keep it, also with
 * `target_session_attrs`, and the next one may reach the primary.
 *
 * @returns whether the connection ends
 */
async function endConnection(session: PostgresSqlSession): Promise<boolean> {
  try {
    await session.unsafe('ROLLBACK; SELECT pg_terminate_backend(pg_backend_pid())');
    return true;
  } catch (thrown) {
    return isLostConnection(thrown);
  }
}

/** @param isOver  true once the transaction has ended, also because its connection was lost meanwhile */
function transactionSession(sql: PostgresSqlSession, isOver: () => boolean): PostgresSession {
  const session = sessionOf(sql);
  return { query: (text, values) => (isOver() ? never() : session.query(text, values)) };
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
