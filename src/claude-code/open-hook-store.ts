import { existsSync, writeFileSync } from 'node:fs';
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
  const folder = dirname(store.path);
  if (basename(folder) === STATE_FOLDER) keepOutOfGit(folder);
  if (store.kind === 'sqlite') return sqliteOneShot(store.path, limits);
  const { jsonlStore } = await import('../store/jsonl-store.ts');
  return jsonlStore(store.path);
}

/** Records are nobody's source code: the folder ignores itself. */
export function keepOutOfGit(folder: string): void {
  const file = join(folder, '.gitignore');
  if (existsSync(file)) return;
  makeFolderSync(folder);
  writeFileSync(file, '*\n', { mode: 0o600 });
}
