import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import type { ResolvedStore } from '../config/resolved-config.ts';
import { makeFolderSync } from '../store/make-folder-sync.ts';
import { sqliteOneShot, type OneShotStore } from '../store/sqlite-one-shot.ts';

/** The folder of a project's records, in the project. */
export const STATE_FOLDER = '.coxswain';

/**
 * Opens the store of a project for one event.
 *
 * @throws CoxswainError as `sqliteStore` and `jsonlStore`
 */
export async function openHookStore(
  store: ResolvedStore,
  limits: { readonly timeoutMs: number },
): Promise<OneShotStore> {
  if (isDefaultPlace(store)) keepOutOfGit(dirname(store.path));
  if (store.kind === 'sqlite') return sqliteOneShot(store.path, limits);
  const { jsonlStore } = await import('../store/jsonl-store.ts');
  return jsonlStore(store.path);
}

/** Whether a store is where it is unless somebody says otherwise: in a folder of ours. */
export function isDefaultPlace({ path }: ResolvedStore): boolean {
  return basename(dirname(path)) === STATE_FOLDER;
}

/** Records are nobody's source code: the folder ignores itself. */
export function keepOutOfGit(folder: string): void {
  const file = join(folder, '.gitignore');
  if (existsSync(file)) return;
  makeFolderSync(folder);
  try {
    writeFileSync(file, '*\n', { mode: 0o600 });
  } catch (error) {
    // A full disk may leave it there and empty, which would be taken for somebody's wish.
    rmSync(file, { force: true });
    throw error;
  }
}
