import type { ResolvedStore } from '../config/resolved-config.ts';
import { sqliteOneShot, type OneShotStore } from '../../stores/sqlite/sqlite-one-shot.ts';

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
