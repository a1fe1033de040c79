import { present } from '../../base/present.ts';
import { CoxswainError, invalidArgument } from '../../base/error.ts';
import { optionalPackage } from '../../base/optional-package.ts';
import { postgresStore, type PostgresHandle, type PostgresStore } from '../postgres/postgres-store.ts';
import { parseStoreAddress, shownAddress } from '../store-address.ts';
import type { LiveReader } from '../trajectory-store.ts';

/** Connections of one store: an agent's process writes few runs at a time, and a team's machines share the server's. */
const MAX_CONNECTIONS = 4;
const IDLE_SECONDS = 20;

/** How a PostgreSQL store is opened by its address. */
interface OpenOptions {
  /** How long a call tries again after its connection was lost. */
  readonly waitMs: number;
}

/**
 * Opens the store at a `postgres://` address with whichever of the packages `postgres` and `pg` is installed.
 *
 * @throws CoxswainError `store-io` without either, naming the command that installs one; `invalid-argument`
 */
export async function openPostgres(address: string, { waitMs }: OpenOptions): Promise<PostgresStore> {
  return openAt(address, { retryForMs: waitMs });
}

/**
 * The same for reading only: a schema that is not there is not made.
 *
 * @throws CoxswainError as `openPostgres`, and each call `input-io` without a schema
 */
export async function openPostgresReader(address: string, { waitMs }: OpenOptions): Promise<LiveReader> {
  const store = await openAt(address, { retryForMs: waitMs, isReadOnly: true });
  const stop = new AbortController();
  /** Undefined until somebody asks what has changed. */
  let changed: Set<string> | undefined;
  let fault: { readonly thrown: unknown } | undefined;
  const follow = async (): Promise<void> => {
    try {
      for await (const { runId } of store.tail(undefined, { signal: stop.signal })) changed?.add(runId);
    } catch (thrown) {
      fault = { thrown };
    }
  };
  return {
    listRuns: (query) => store.listRuns(query),
    findRun: (runId) => store.findRun(runId),
    readRun: (runId, query) => store.readRun(runId, query),
    search: (query) => store.search(query),
    sizeOf: () => store.sizeOf(),
    verify: () => store.verify(),
    async changes() {
      if (changed === undefined || fault !== undefined) {
        changed = new Set();
        fault = undefined;
        void follow();
        return undefined;
      }
      const ids = [...changed];
      changed.clear();
      return ids;
    },
    async close() {
      stop.abort();
      await store.close();
    },
  };
}

async function openAt(
  address: string,
  options: { readonly retryForMs: number; readonly isReadOnly?: boolean },
): Promise<PostgresStore> {
  const parsed = parseStoreAddress(address);
  if (parsed.kind !== 'postgres') {
    throw invalidArgument(`${shownAddress(address)} is no address of a PostgreSQL database`);
  }
  const { schema, url } = parsed;
  const handle = await handleOf(url);
  return postgresStore(handle, { ...options, endHandle: true, ...present({ schema }) });
}

async function handleOf(url: string): Promise<PostgresHandle> {
  try {
    const sql = await optionalPackage(() => import('postgres'));
    if (sql !== undefined) {
      return sql.default(url, {
        max: MAX_CONNECTIONS,
        idle_timeout: IDLE_SECONDS,
        connect_timeout: 10,
        fetch_types: false,
        onnotice: () => undefined,
      });
    }
    const pg = await optionalPackage(() => import('pg'));
    if (pg !== undefined) {
      const { Pool } = pg.default;
      return new Pool({ connectionString: url, max: MAX_CONNECTIONS, connectionTimeoutMillis: 10_000 });
    }
  } catch {
    // The message of the package, or its error's fields, may hold the address with the password.
    throw invalidArgument(
      `${shownAddress(url)} cannot be read as the address of a database; marks such as @ : / ? in a name or password are written %40 %3A %2F %3F`,
    );
  }
  throw new CoxswainError(
    'store-io',
    'a store in PostgreSQL needs the package postgres or pg, and neither is installed beside coxswain; run: npm install postgres',
  );
}
