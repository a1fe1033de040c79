import type { TrajectoryStore } from '../../src/core/store/trajectory-store.ts';
import type { ContractStore, StoredDamage } from './store-contract/contract-store.ts';
import { tempFolder } from './temp-folder.ts';

/** Opens a store for the contract in a new folder, which `dispose` deletes. */
export async function openOnDisk(
  openIn: (folder: string) => TrajectoryStore,
  damageIn?: (folder: string, damage: StoredDamage) => Promise<void>,
): Promise<ContractStore> {
  const folder = await tempFolder();
  let open = openIn(folder.path);
  return {
    store: open,
    reopen: async () => {
      await open.close();
      open = openIn(folder.path);
      return open;
    },
    ...(damageIn !== undefined && { damage: (damage) => damageIn(folder.path, damage) }),
    dispose: async () => {
      await open.close();
      await folder.dispose();
    },
  };
}
