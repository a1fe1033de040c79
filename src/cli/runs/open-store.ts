import { stat } from 'node:fs/promises';

import { dirname, resolve } from 'node:path';

import { CoxswainError } from '../../base/error.ts';
import { openStore as openStoreAt, openStoreReader } from '../../store/registry/open-store.ts';
import { examineRecords, refusalError, refuseLinks } from '../../store/records-folder.ts';
import { parseStoreAddress, shownAddress } from '../../store/store-address.ts';
import type { LiveReader, TrajectoryStore } from '../../store/trajectory-store.ts';
import { printable } from '../terminal/printable.ts';
import { shellWord } from '../terminal/shell-word.ts';

/** Where runs are recorded when nothing else is said. */
const DEFAULT_STORE = '.coxswain/runs.db';

/** The address of a store that a command was given, else that in `COXSWAIN_STORE`, else `.coxswain/runs.db`. */
export function storeNamed(given: string | undefined): string {
  const { COXSWAIN_STORE: named = '' } = process.env;
  return given ?? (named === '' ? DEFAULT_STORE : named);
}

/** The address of a store as every command prints it: without a password, and with nothing that acts on a terminal. */
export function shownStore(address: string): string {
  return printable(shownAddress(address));
}

/** ` --store ADDRESS` for a command to type; nothing for the default store. */
export function storeFlag(address: string): string {
  return address === DEFAULT_STORE ? '' : ` --store ${shellWord(shownStore(address))}`;
}

/**
 * Opens the store at this address; made where missing.
 *
 * @throws CoxswainError as `openStore` of the registry; `unsafe-path`
 */
export async function openStoreNamed(address: string): Promise<TrajectoryStore> {
  checkPlace(address);
  return openStoreAt(address);
}

/**
 * Opens a store that is there.
 *
 * @throws CoxswainError `input-io` when it is not, saying how to make one; else as `openStoreNamed`
 */
export async function openExistingStore(address: string): Promise<TrajectoryStore> {
  await requireStore(address);
  return openStoreNamed(address);
}

/**
 * Opens a store that is there for reading only: nothing in its folder moves, so that media and folders that cannot be written
 * to do as well.
 *
 * @throws CoxswainError `input-io` when it is not there, saying how to make one; else as `openStoreReader`
 */
export async function openReadableStore(address: string): Promise<LiveReader> {
  await requireStore(address);
  return openStoreReader(address);
}

/** @throws CoxswainError `input-io` when nothing is at this path, saying how to make a store; `unsafe-path` */
export async function requireStore(address: string): Promise<void> {
  checkPlace(address);
  const parsed = parseStoreAddress(address);
  // A database is found missing by the first call.
  if (parsed.kind !== 'path') return;
  const isThere = await stat(parsed.path).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  const shown = shownStore(address);
  throw new CoxswainError(
    'input-io',
    `${shown}: no runs are recorded here yet; run: coxswain demo${storeFlag(address)}, or: coxswain analyze PATH --store ${shown}`,
    { details: { path: parsed.path } },
  );
}

/**
 * A store that nobody named must be this user's own; one that is named on the command line is its user's choice.
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
