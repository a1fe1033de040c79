import { open, readdir, stat } from 'node:fs/promises';

import { CoxswainError, invalidArgument } from '../../base/error.ts';
import { isRunFolderName } from '../jsonl/run-folder-name.ts';
import { parseStoreAddress, shownAddress, type StoreKind } from '../store-address.ts';
import type { LiveReader, TrajectoryStore } from '../trajectory-store.ts';

/** How a store is opened. */
export interface OpenStoreOptions {
  /** How long a call waits for a lock, and tries again after a lost connection; default 5,000. */
  readonly waitMs?: number;
}

/** What the registry knows of a kind of store. The code of each is loaded when one is opened. */
interface StoreDriver {
  /** Opens it for writing; made where missing. */
  open(address: string, waitMs: number): Promise<TrajectoryStore>;
  /** Opens one that is there. Nothing is made or changed. */
  read(address: string, waitMs: number): Promise<LiveReader>;
}

const DRIVERS: Readonly<Record<StoreKind, StoreDriver>> = {
  sqlite: {
    open: async (address, timeoutMs) => {
      const { sqliteStore } = await import('../sqlite/sqlite-store.ts');
      return sqliteStore(pathIn(address), { timeoutMs });
    },
    read: async (address, timeoutMs) => {
      const { openSqliteReader } = await import('../sqlite/sqlite-reader.ts');
      return openSqliteReader(pathIn(address), { timeoutMs });
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
      const { memoryStore } = await import('../memory/memory-store.ts');
      return memoryStore();
    },
    read: async () => {
      throw new CoxswainError('input-io', 'memory: is empty when it is opened; give a store that outlives its process');
    },
  },
  jsonl: {
    open: async (address) => {
      throw invalidArgument(
        `${address} is a folder, and a folder of JSON lines is no store to record into; give a file, and copy what the ` +
          `folder holds: coxswain import ${address} --store FILE`,
      );
    },
    read: async (address) => {
      const { openJsonlReader } = await import('../jsonl/jsonl-reader.ts');
      return openJsonlReader(pathIn(address));
    },
  },
};

const DEFAULT_WAIT_MS = 5_000;

/**
 * Opens the store at an address, made where missing: a path (SQLite), `postgres://USER@HOST/DATABASE`, or `memory:`. The
 * driver is loaded only here; PostgreSQL needs one of the packages `postgres` and `pg`.
 *
 * @throws CoxswainError `invalid-argument` for an address that leads to no kind of store, and as the driver: `store-io`,
 *   `store-version`, `store-schema`, `unsafe-path`
 */
export async function openStore(address: string, options: OpenStoreOptions = {}): Promise<TrajectoryStore> {
  return DRIVERS[await kindOfStore(address)].open(address, options.waitMs ?? DEFAULT_WAIT_MS);
}

/**
 * Opens a store that is there for reading only: nothing is made or moved, so media, folders and roles without the
 * right to write do as well.
 *
 * @throws CoxswainError as `openStore`, and `input-io` where no store is
 */
export async function openStoreReader(address: string, options: OpenStoreOptions = {}): Promise<LiveReader> {
  return DRIVERS[await kindOfStore(address)].read(address, options.waitMs ?? DEFAULT_WAIT_MS);
}

/** The kind of store that an address leads to: for a path, a folder is `jsonl` and anything else `sqlite`, also what is to be made. */
export async function kindOfStore(address: string): Promise<StoreKind> {
  const parsed = parseStoreAddress(address);
  if (parsed.kind !== 'path') return parsed.kind;
  const facts = await stat(parsed.path).catch(() => undefined);
  const isFolder = facts === undefined ? /[/\\]$/.test(parsed.path) : facts.isDirectory();
  return isFolder ? 'jsonl' : 'sqlite';
}

const SQLITE_MAGIC = 'SQLite format 3\0';

/** The kind of the store that an argument names which may also be a transcript, a folder or a glob; undefined for those. Never throws. */
export async function storeKindAt(address: string): Promise<StoreKind | undefined> {
  if (address === '-') return undefined;
  try {
    const parsed = parseStoreAddress(address);
    if (parsed.kind !== 'path') return parsed.kind;
    if ((await stat(parsed.path)).isDirectory()) {
      return (await readdir(parsed.path)).some(isRunFolderName) ? 'jsonl' : undefined;
    }
    const file = await open(parsed.path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(SQLITE_MAGIC.length), 0, SQLITE_MAGIC.length, 0);
      return buffer.toString('latin1', 0, bytesRead) === SQLITE_MAGIC ? 'sqlite' : undefined;
    } finally {
      await file.close();
    }
  } catch {
    // Reading it as a file gives the reason.
    return undefined;
  }
}

/** Of an address that is known to be a path. */
function pathIn(address: string): string {
  const parsed = parseStoreAddress(address);
  return parsed.kind === 'path' ? parsed.path : shownAddress(address);
}
