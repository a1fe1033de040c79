import { existsSync } from 'node:fs';

import { CoxswainError } from '../../core/base/error.ts';
import { openStore as openStoreAt, openStoreReader } from '../../stores/registry/open-store.ts';
import { shownAddress, storePath } from '../../stores/store-address.ts';
import type { LiveReader, TrajectoryStore } from '../../core/store/trajectory-store.ts';
import { printable } from '../../core/base/printable.ts';
import { configuredStore } from './project-store.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shellWord } from '../terminal/shell-word.ts';

/**
 * Returns the store address: from the command line, else from `COXSWAIN_STORE`, else the store of this project.
 *
 * @throws CoxswainError as `configuredStore`
 */
export function storeNamed(address: string | undefined, terminal?: Terminal): string {
  const { COXSWAIN_STORE: fromEnv = '' } = process.env;
  return address ?? (fromEnv === '' ? configuredStore(terminal).address : fromEnv);
}

/** Returns a store address without its password, for display. */
export function shownStore(address: string): string {
  return printable(shownAddress(address));
}

/** Returns ` --store ADDRESS` for a suggested command; empty for the store of this project. */
export function storeFlag(address: string): string {
  return address === configuredStore().address ? '' : ` --store ${shellWord(shownStore(address))}`;
}

/**
 * Opens the store at this address. Creates it if it does not exist.
 *
 * @throws CoxswainError the errors of `openStore` in the registry
 */
export async function openStoreNamed(address: string): Promise<TrajectoryStore> {
  return openStoreAt(address);
}

/**
 * Opens an existing store.
 *
 * @throws CoxswainError `input-io` with instructions to create a store if it does not exist; the errors of `openStoreNamed`
 */
export async function openExistingStore(address: string): Promise<TrajectoryStore> {
  await requireStore(address);
  return openStoreNamed(address);
}

/**
 * Opens an existing store for reading. Does not change its folder, so it works on read-only media.
 *
 * @throws CoxswainError `input-io` with instructions to create a store if it does not exist; the errors of `openStoreReader`
 */
export async function openReadableStore(address: string): Promise<LiveReader> {
  await requireStore(address);
  return openStoreReader(address);
}

/**
 * Returns the sources of runs that a command names; default: the store of `storeNamed`.
 *
 * @throws CoxswainError as `storeNamed` and `requireStore`
 */
export async function sourcesNamed(paths: readonly string[], terminal: Terminal): Promise<readonly string[]> {
  if (paths.length > 0) return paths;
  const address = storeNamed(undefined, terminal);
  await requireStore(address);
  return [address];
}

/** @throws CoxswainError `input-io` with instructions to create a store if the path does not exist */
export async function requireStore(address: string): Promise<void> {
  const path = storePath(address);
  // For a database, the first query shows whether it exists.
  if (path === undefined || existsSync(path)) return;
  const shown = shownStore(address);
  throw new CoxswainError(
    'input-io',
    `${shown}: no runs are recorded here yet; run: coxswain demo${storeFlag(address)}, or: coxswain analyze PATH --store ${shown}`,
    { details: { path } },
  );
}
