import { stat } from 'node:fs/promises';

import { dirname, resolve } from 'node:path';

import { CoxswainError } from '../../base/error.ts';
import { examineRecords, refusalError, refuseLinks } from '../../store/records-folder.ts';
import type { TrajectoryStore } from '../../store/trajectory-store.ts';
import { printable } from '../terminal/printable.ts';

/** Where runs are recorded when nothing else is said. */
export const DEFAULT_STORE = '.coxswain/runs.db';

/** How long a reading command waits for a lock; `sqliteStore` waits as long. */
const READ_WAIT_MS = 5_000;

/** The kinds of store that a path can be: a file, or a folder. */
export type StoreKind = 'sqlite' | 'jsonl';

/**
 * The kind of the store at this path: a folder holds JSON lines, a file is SQLite. Where nothing is there yet, `wanted`
 * decides, then a slash at the end of the path, which makes a folder; else it is a file.
 *
 * @throws CoxswainError `invalid-argument` for a kind that does not exist, or that what is there is not; `unsafe-path`
 */
export async function storeKindOf(path: string, wanted?: string): Promise<StoreKind> {
  checkPlace(path);
  if (wanted !== undefined && wanted !== 'sqlite' && wanted !== 'jsonl') {
    throw new CoxswainError('invalid-argument', `--store-kind ${wanted}: give sqlite or jsonl`);
  }
  const facts = await stat(path).catch(() => undefined);
  if (facts === undefined) return wanted ?? (/[/\\]$/.test(path) ? 'jsonl' : 'sqlite');
  const kind = facts.isDirectory() ? 'jsonl' : 'sqlite';
  if (wanted === undefined || wanted === kind) return kind;
  const what = kind === 'jsonl' ? 'a folder, which holds a jsonl store' : 'a file, which holds a sqlite store';
  throw new CoxswainError('invalid-argument', `--store-kind ${wanted}: ${printable(path)} is ${what}`);
}

/**
 * Opens the store at this path; made where missing. The driver is loaded only here.
 *
 * @throws CoxswainError as `storeKindOf`, `sqliteStore` and `jsonlStore`
 */
export async function openStore(path: string, wanted?: string): Promise<TrajectoryStore> {
  if ((await storeKindOf(path, wanted)) === 'jsonl') {
    const { jsonlStore } = await import('../../store/jsonl/jsonl-store.ts');
    return jsonlStore(path);
  }
  const { sqliteStore } = await import('../../store/sqlite/sqlite-store.ts');
  return sqliteStore(path);
}

/**
 * Opens a store that is there.
 *
 * @throws CoxswainError `input-io` when it is not, saying how to make one; else as `openStore`
 */
export async function openExistingStore(path: string): Promise<TrajectoryStore> {
  await requireStore(path);
  return openStore(path);
}

/**
 * A store that nobody named must be this user's own; one that is named on the command line is its user's choice.
 *
 * @throws CoxswainError `unsafe-path`
 */
function checkPlace(path: string): void {
  refuseLinks(path);
  if (path !== DEFAULT_STORE) return;
  const verdict = examineRecords(dirname(resolve(path)), { env: process.env });
  if (verdict.kind === 'refused') throw refusalError(verdict.refusal);
}

/** What a command needs of a store that it only reads. */
export type ReadableStore = Pick<
  TrajectoryStore,
  'listRuns' | 'findRun' | 'readRun' | 'search' | 'verify' | 'sizeOf' | 'close'
>;

/**
 * Opens a store that is there for reading only: nothing in its folder moves, so that media and folders that cannot be written
 * to do as well.
 *
 * @throws CoxswainError `input-io` when it is not there, saying how to make one; else as `openSqliteReader` and `jsonlStore`
 */
export async function openReadableStore(path: string): Promise<ReadableStore> {
  await requireStore(path);
  if ((await storeKindOf(path)) === 'jsonl') return openStore(path);
  const { openSqliteReader } = await import('../../store/sqlite/sqlite-reader.ts');
  return openSqliteReader(path, { timeoutMs: READ_WAIT_MS });
}

/** @throws CoxswainError `input-io` when nothing is at this path, saying how to make a store; `unsafe-path` */
export async function requireStore(path: string): Promise<void> {
  checkPlace(path);
  const isThere = await stat(path).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  const shown = printable(path);
  const flag = path === DEFAULT_STORE ? '' : ` --store ${shown}`;
  throw new CoxswainError(
    'input-io',
    `${shown}: no runs are recorded here yet; run: coxswain demo${flag}, or: coxswain analyze PATH --store ${shown}`,
    { details: { path } },
  );
}
