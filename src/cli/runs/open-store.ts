import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { CoxswainError } from '../../base/error.ts';
import { openStore as openStoreAt, openStoreReader } from '../../store/registry/open-store.ts';
import { examineRecords, refusalError, refuseLinks } from '../../store/records-folder.ts';
import { parseStoreAddress, shownAddress } from '../../store/store-address.ts';
import type { LiveReader, TrajectoryStore } from '../../store/trajectory-store.ts';
import { printable } from '../terminal/printable.ts';
import { shellWord } from '../terminal/shell-word.ts';

const DEFAULT_STORE = '.coxswain/runs.db';

/** The store address of the command line, else of `COXSWAIN_STORE`, else `.coxswain/runs.db`. */
export function storeNamed(address: string | undefined): string {
  const { COXSWAIN_STORE: fromEnv = '' } = process.env;
  return address ?? (fromEnv === '' ? DEFAULT_STORE : fromEnv);
}

/** A store address for a terminal: without its password. */
export function shownStore(address: string): string {
  return printable(shownAddress(address));
}

/** ` --store ADDRESS` for a suggested command; empty for the default store. */
export function storeFlag(address: string): string {
  return address === DEFAULT_STORE ? '' : ` --store ${shellWord(shownStore(address))}`;
}

/**
 * Opens the store at this address, or creates it.
 *
 * @throws CoxswainError as `openStore` of the registry; `unsafe-path`
 */
export async function openStoreNamed(address: string): Promise<TrajectoryStore> {
  checkPlace(address);
  return openStoreAt(address);
}

/**
 * Opens an existing store.
 *
 * @throws CoxswainError `input-io` if it does not exist, with how to create one; else as `openStoreNamed`
 */
export async function openExistingStore(address: string): Promise<TrajectoryStore> {
  await requireStore(address);
  return openStoreNamed(address);
}

/**
 * Opens an existing store for reading. Nothing in its folder changes, so read-only media work too.
 *
 * @throws CoxswainError `input-io` if it does not exist, with how to create one; else as `openStoreReader`
 */
export async function openReadableStore(address: string): Promise<LiveReader> {
  await requireStore(address);
  return openStoreReader(address);
}

/** @throws CoxswainError `input-io` if the path does not exist, with how to create a store; `unsafe-path` */
export async function requireStore(address: string): Promise<void> {
  checkPlace(address);
  const parsed = parseStoreAddress(address);
  // The first query finds a missing database.
  if (parsed.kind !== 'path') return;
  if (existsSync(parsed.path)) return;
  const shown = shownStore(address);
  throw new CoxswainError(
    'input-io',
    `${shown}: no runs are recorded here yet; run: coxswain demo${storeFlag(address)}, or: coxswain analyze PATH --store ${shown}`,
    { details: { path: parsed.path } },
  );
}

/**
 * The default store must belong to this user; a store named on the command line is the user's choice.
 *
 * @throws CoxswainError `unsafe-path`
 */
function checkPlace(address: string): void {
  const parsed = parseStoreAddress(address);
  if (parsed.kind !== 'path') return;
  refuseLinks(parsed.path);
  if (address !== DEFAULT_STORE) return;
  const verdict = examineRecords(dirname(resolve(parsed.path)), { env: process.env });
  if (verdict.kind === 'refused') throw refusalError(verdict.refusal);
}
