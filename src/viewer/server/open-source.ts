import { stat } from 'node:fs/promises';

import { CoxswainError, messageOf } from '../../base/error.ts';
import { openStoreReader, storeKindAt } from '../../store/registry/open-store.ts';
import { shownAddress } from '../../store/store-address.ts';
import type { LiveReader } from '../../store/trajectory-store.ts';
import { readFiles } from './read-files.ts';
import { ViewerSource } from './viewer-source.ts';

/** How long a page waits for a lock or a server before it says so. */
const WAIT_MS = 1_000;

/**
 * A store or files as a source; what it is, its content tells. A store is only read. Files are read into a store of their own.
 *
 * @param id  short, without slashes
 * @throws CoxswainError `input-io` when nothing is there
 */
export async function openSource(id: string, path: string): Promise<ViewerSource> {
  const kind = await storeKindAt(path);
  if (kind === 'memory')
    throw new CoxswainError('input-io', 'memory: is empty; give a store that outlives its process');
  if (kind !== undefined) {
    const open = (): Promise<LiveReader> => openStoreReader(path, { waitMs: WAIT_MS });
    return new ViewerSource({ id, path: shownAddress(path), kind, open });
  }
  if (!/[*?[{]/.test(path)) await requireThere(path);
  return new ViewerSource({ id, path, kind: 'files', open: () => readFiles(path) });
}

async function requireThere(path: string): Promise<void> {
  try {
    await stat(path);
  } catch (error) {
    throw new CoxswainError('input-io', `${path} cannot be opened: ${messageOf(error)}`, { cause: error });
  }
}
