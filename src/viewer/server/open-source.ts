import { stat } from 'node:fs/promises';

import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { openStoreReader, storeKindAt } from '../../stores/registry/open-store.ts';
import { shownAddress } from '../../stores/store-address.ts';
import type { LiveReader } from '../../core/store/trajectory-store.ts';
import type { FoundSession } from '../../formats/find-sessions.ts';
import { readFiles } from './read-files.ts';
import { ViewerSource } from './viewer-source.ts';

/** How long a page waits for a lock or a server. */
const WAIT_MS = 1_000;

/**
 * Opens a store or files as a source. The content of the path decides which of the two it is. A store is opened read-only. Files are
 * imported into a separate store.
 *
 * @param id  short, without slashes
 * @throws CoxswainError `input-io` if the path does not exist
 */
export async function openSource(id: string, path: string): Promise<ViewerSource> {
  const kind = await storeKindAt(path);
  if (kind === 'memory') throw new CoxswainError('input-io', 'memory: is always empty; give a stored run');
  if (kind !== undefined) {
    const open = (): Promise<LiveReader> => openStoreReader(path, { waitMs: WAIT_MS });
    return new ViewerSource({ id, path: shownAddress(path), kind, open });
  }
  if (!/[*?[{]/.test(path)) await requireExists(path);
  return new ViewerSource({ id, path, kind: 'files', open: () => readFiles(path) });
}

/** Opens the sessions of agent programs as one source. @param sessions  newest first */
export function openSessions(id: string, sessions: readonly FoundSession[]): ViewerSource {
  return new ViewerSource({ id, path: 'agent sessions', kind: 'sessions', open: () => readFiles(sessions) });
}

async function requireExists(path: string): Promise<void> {
  try {
    await stat(path);
  } catch (error) {
    throw new CoxswainError('input-io', `${path} cannot be opened: ${messageOf(error)}`, { cause: error });
  }
}
