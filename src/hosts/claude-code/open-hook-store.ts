import { dirname, join } from 'node:path';

import { stateFile, stateRoot, type StatePlaces } from '../../core/node/state-places.ts';
import type { ResolvedStore } from '../config/resolved-config.ts';
import { isInRecordsFolder, makeRecords, type RecordsRefusal } from '../../stores/records-folder.ts';
import { sqliteOneShot, type OneShotStore } from '../../stores/sqlite/sqlite-one-shot.ts';

/** The store that a hook writes to. */
export interface UsableStore {
  readonly place: ResolvedStore;
  /** Why the configured folder was refused. Absent if it is used. */
  readonly refusal?: RecordsRefusal;
}

/**
 * Opens a store for one event.
 *
 * @throws CoxswainError as `sqliteStore` and `openStore`
 */
export async function openHookStore(
  { address, kind }: ResolvedStore,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<OneShotStore> {
  if (kind === 'sqlite') return sqliteOneShot(address, { timeoutMs });
  const { openStore } = await import('../../stores/registry/open-store.ts');
  return openStore(address, { waitMs: timeoutMs });
}

/**
 * Returns the configured store, and creates its folder if necessary. If that folder is refused, it returns a store in the
 * user's state folder, so that no record is lost.
 *
 * @throws CoxswainError as `makeRecords`
 */
export function usableStore(store: ResolvedStore, places: StatePlaces): UsableStore {
  if (store.kind !== 'sqlite' || !isInRecordsFolder(store.address)) return { place: store };
  const folder = dirname(store.address);
  const verdict = makeRecords(folder, places);
  if (verdict.kind !== 'refused') return { place: store };
  const address = stateFile('fallbackStore', { ...places, projectFolder: dirname(folder) });
  return { place: { kind: 'sqlite', address }, refusal: verdict.refusal };
}

/** Returns true for a store in the records folder of a project or in the state folder. */
export function isDefaultPlace({ address, kind }: ResolvedStore, places: StatePlaces): boolean {
  if (kind !== 'sqlite') return false;
  return isInRecordsFolder(address) || dirname(dirname(address)) === join(stateRoot(places), 'projects');
}

/** Path of a file whose mtime is the time of the last trim. Used for a store in its default location. */
export function trimMarkOf({ address }: ResolvedStore, places: StatePlaces): string {
  const folder = dirname(address);
  return isInRecordsFolder(address)
    ? stateFile('trimmed', { ...places, projectFolder: dirname(folder) })
    : join(folder, 'trimmed');
}
