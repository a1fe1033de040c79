import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { CoxswainError } from '../../core/base/error.ts';
import { openStore as openStoreAt, openStoreReader } from '../../stores/registry/open-store.ts';
import { examineRecords, refusalError, refuseLinks } from '../../stores/records-folder.ts';
import { shownAddress, storePath } from '../../stores/store-address.ts';
import type { LiveReader, TrajectoryStore } from '../../core/store/trajectory-store.ts';
import { printable } from '../../core/base/printable.ts';
import { shellWord } from '../terminal/shell-word.ts';

const DEFAULT_STORE = '.coxswain/runs.db';

/** Returns the store address: from the command line, else from `COXSWAIN_STORE`, else `.coxswain/runs.db`. */
export function storeNamed(address: string | undefined): string {
  const { COXSWAIN_STORE: fromEnv = '' } = process.env;
  return address ?? (fromEnv === '' ? DEFAULT_STORE : fromEnv);
}

/** Returns a store address without its password, for display. */
export function shownStore(address: string): string {
  return printable(shownAddress(address));
}

/** Returns ` --store ADDRESS` for a suggested command; empty for the default store. */
export function storeFlag(address: string): string {
  return address === DEFAULT_STORE ? '' : ` --store ${shellWord(shownStore(address))}`;
}

/**
 * Opens the store at this address. Creates it if it does not exist.
 *
 * @throws CoxswainError the errors of `openStore` in the registry; `unsafe-path`
 */
export async function openStoreNamed(address: string): Promise<TrajectoryStore> {
  checkPlace(address);
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

/** @throws CoxswainError `input-io` with instructions to create a store if the path does not exist; `unsafe-path` */
export async function requireStore(address: string): Promise<void> {
  checkPlace(address);
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

/**
 * Checks that the default store belongs to this user. A store named on the command line may belong to another user.
 *
 * @throws CoxswainError `unsafe-path`
 */
function checkPlace(address: string): void {
  const path = storePath(address);
  if (path === undefined) return;
  refuseLinks(path);
  if (address !== DEFAULT_STORE) return;
  const verdict = examineRecords(dirname(resolve(path)), { env: process.env });
  if (verdict.kind === 'refused') throw refusalError(verdict.refusal);
}
