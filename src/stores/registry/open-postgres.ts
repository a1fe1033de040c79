import { present } from '../../core/base/json.ts';
import { CoxswainError, invalidArgument, hasCode } from '../../core/base/error.ts';
import type * as Pg from 'pg';

import { postgresStore, type PgPool, type PostgresStore } from '../postgres/postgres-store.ts';
import { parseStoreAddress, shownAddress } from '../store-address.ts';
import type { LiveReader } from '../../core/store/trajectory-store.ts';

/** An agent's process writes few runs at a time, and many machines share the server. */
const MAX_CONNECTIONS = 4;

interface OpenOptions {
  readonly waitMs: number;
}

/** @throws CoxswainError `store-io` without the package `pg`; `invalid-argument` */
export async function openPostgres(address: string, { waitMs }: OpenOptions): Promise<PostgresStore> {
  return openAddress(address, { retryForMs: waitMs });
}

/** Creates no missing schema. Throws CoxswainError as `openPostgres`, and each call `input-io` without a schema. */
export async function openPostgresReader(address: string, { waitMs }: OpenOptions): Promise<LiveReader> {
  const store = await openAddress(address, { retryForMs: waitMs, isReadOnly: true });
  const abortController = new AbortController();
  /** Undefined until the first call of `changes`. */
  let changedRunIds: Set<string> | undefined;
  let tailFault: { readonly thrown: unknown } | undefined;
  const followTail = async (onReady: () => void): Promise<void> => {
    try {
      for await (const { runId } of store.tail(undefined, { signal: abortController.signal, onReady }))
        changedRunIds?.add(runId);
    } catch (thrown) {
      tailFault = { thrown };
    } finally {
      onReady();
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
      if (changedRunIds === undefined || tailFault !== undefined) {
        changedRunIds = new Set();
        tailFault = undefined;
        // Growth while the caller lists all runs must be reported afterwards.
        await new Promise<void>((resolve) => void followTail(resolve));
        return undefined;
      }
      const ids = [...changedRunIds];
      changedRunIds.clear();
      return ids;
    },
    async close() {
      abortController.abort();
      await store.close();
    },
  };
}

async function openAddress(
  address: string,
  options: { readonly retryForMs: number; readonly isReadOnly?: boolean },
): Promise<PostgresStore> {
  const parsedAddress = parseStoreAddress(address);
  if (parsedAddress.kind !== 'postgres') {
    throw invalidArgument(`${shownAddress(address)} is not the address of a PostgreSQL database`);
  }
  const { schema, url } = parsedAddress;
  return postgresStore(await connect(url), { ...options, endHandle: true, ...present({ schema }) });
}

async function connect(url: string): Promise<PgPool> {
  const pg = await optionalPackage<typeof Pg>('pg');
  if (pg === undefined) {
    throw new CoxswainError(
      'store-io',
      'a store in PostgreSQL needs the package pg, which is not installed next to coxswain; run: npm install pg, with -g if coxswain is installed with -g',
    );
  }
  try {
    const { Pool } = pg.default;
    return new Pool({ connectionString: url, max: MAX_CONNECTIONS, connectionTimeoutMillis: 10_000 });
  } catch {
    // The package's error may contain the address with the password.
    throw invalidArgument(
      `${shownAddress(url)} is not a valid database address; write marks such as @ : / ? in a name or password as %40 %3A %2F %3F`,
    );
  }
}

/** A bundler leaves the import as it is: an application that does not use the package does not have it. */
async function optionalPackage<Module>(name: string): Promise<Module | undefined> {
  try {
    // The package has the types of its name.
    return (await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name)) as Module;
  } catch (error) {
    if (hasCode(error, 'ERR_MODULE_NOT_FOUND') || hasCode(error, 'MODULE_NOT_FOUND')) return undefined;
    throw error;
  }
}
