import { open, stat } from 'node:fs/promises';

import { CoxswainError, invalidArgument } from '../../core/base/error.ts';
import { parseStoreAddress, shownAddress, storePath, type StoreKind } from '../store-address.ts';
import type { LiveReader, TrajectoryStore } from '../../core/store/trajectory-store.ts';

export interface OpenStoreOptions {
  /** Maximum time in milliseconds for which a call waits for a lock, or retries after a lost connection; default 5,000. */
  readonly waitMs?: number;
}

interface StoreDriver {
  open(address: string, waitMs: number): Promise<TrajectoryStore>;
  /** Opens an existing store. Creates and changes nothing. */
  read(address: string, waitMs: number): Promise<LiveReader>;
}

const DRIVERS: Readonly<Record<StoreKind, StoreDriver>> = {
  sqlite: {
    open: async (address, timeoutMs) => {
      const { sqliteStore } = await import('../sqlite/sqlite-store.ts');
      return sqliteStore(requirePath(address), { timeoutMs });
    },
    read: async (address, timeoutMs) => {
      const { openSqliteReader } = await import('../sqlite/sqlite-reader.ts');
      return openSqliteReader(requirePath(address), { timeoutMs });
    },
  },
  postgres: {
    open: async (address, waitMs) => {
      const { openPostgres } = await import('./open-postgres.ts');
      return openPostgres(address, { waitMs });
    },
    read: async (address, waitMs) => {
      const { openPostgresReader } = await import('./open-postgres.ts');
      return openPostgresReader(address, { waitMs });
    },
  },
  memory: {
    open: async () => {
      const { memoryStore } = await import('../../core/store/memory-store.ts');
      return memoryStore();
    },
    read: async () => {
      throw new CoxswainError('input-io', 'memory: is empty when it is opened; give a store that outlives its process');
    },
  },
};

const DEFAULT_WAIT_MS = 5_000;

/**
 * Opens the store at an address and creates a missing one: a path (SQLite), `postgres://USER@HOST/DATABASE`, or `memory:`.
 * PostgreSQL needs the package `pg`.
 *
 * @throws CoxswainError `invalid-argument` for an invalid address, and as the driver: `store-io`,
 *   `store-version`, `store-schema`, `unsafe-path`
 */
export async function openStore(address: string, options: OpenStoreOptions = {}): Promise<TrajectoryStore> {
  return DRIVERS[await kindOfStore(address)].open(address, options.waitMs ?? DEFAULT_WAIT_MS);
}

/** Opens a store read-only, also on such media and roles. Throws CoxswainError as `openStore`; `input-io` without a store. */
export async function openStoreReader(address: string, options: OpenStoreOptions = {}): Promise<LiveReader> {
  return DRIVERS[await kindOfStore(address)].read(address, options.waitMs ?? DEFAULT_WAIT_MS);
}

async function kindOfStore(address: string): Promise<StoreKind> {
  const parsedAddress = parseStoreAddress(address);
  if (parsedAddress.kind !== 'path') return parsedAddress.kind;
  const { path } = parsedAddress;
  const facts = await stat(path).catch(() => undefined);
  const isFolder = facts === undefined ? /[/\\]$/.test(path) : facts.isDirectory();
  if (!isFolder) return 'sqlite';
  throw invalidArgument(
    `${path} is a folder, and a store is one SQLite file. coxswain export writes records as JSON lines, and coxswain import FILE ` +
      'reads them, also the files of a folder of JSON lines: cat FOLDER/*/*.jsonl | coxswain import - --store FILE',
  );
}

const SQLITE_MAGIC = 'SQLite format 3\0';

/** The kind of store at an address; undefined for a transcript, another folder or a glob. Never throws. */
export async function storeKindAt(address: string): Promise<StoreKind | undefined> {
  if (address === '-') return undefined;
  try {
    const parsedAddress = parseStoreAddress(address);
    if (parsedAddress.kind !== 'path') return parsedAddress.kind;
    if (!(await stat(parsedAddress.path)).isFile()) return undefined;
    const file = await open(parsedAddress.path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(SQLITE_MAGIC.length), 0, SQLITE_MAGIC.length, 0);
      return buffer.toString('latin1', 0, bytesRead) === SQLITE_MAGIC ? 'sqlite' : undefined;
    } finally {
      await file.close();
    }
  } catch {
    // Reading the path as a file reports the reason.
    return undefined;
  }
}

function requirePath(address: string): string {
  return storePath(address) ?? shownAddress(address);
}
