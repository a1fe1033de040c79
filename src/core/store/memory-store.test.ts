import { storeContract } from '../../../test/support/store-contract.ts';
import { memoryStore } from './memory-store.ts';

storeContract('memoryStore', async () => {
  const store = memoryStore();
  return { store, dispose: () => store.close() };
});
