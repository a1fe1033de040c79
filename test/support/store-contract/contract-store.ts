import type { TrajectoryStore } from '../../../src/core/store/trajectory-store.ts';
import type { ContractTools } from '../adapter-contract/contract-tools.ts';

/** A change of the stored data that bypasses the store, to simulate damage. */
export type StoredDamage =
  | { readonly what: 'record' | 'missing record'; readonly runId: string; readonly seq: number }
  | { readonly what: 'summary' | 'snapshot'; readonly runId: string };

/** A store for one test. */
export interface ContractStore {
  readonly store: TrajectoryStore;
  /** Closes the store and opens another store on the same data. Absent for a store in memory. */
  readonly reopen?: () => Promise<TrajectoryStore>;
  /**
   * Changes a letter of a stored text so that the record still decodes, or removes a record, like a storage fault. Absent for a
   * driver without checksums.
   */
  readonly damage?: (damage: StoredDamage) => Promise<void>;
  /** Closes all stores and deletes their data. */
  dispose(): Promise<void>;
}

/** The functions and values shared by all parts of the store contract. */
export interface StoreContractCase {
  /** Registers a test that receives a new store. `skip` receives the reason if the store does not support the test. */
  readonly test: (name: string, body: (opened: ContractStore, skip: (reason: string) => void) => Promise<void>) => void;
  readonly expect: ContractTools['expect'];
  /** Additional payloads of unknown kinds as JSON text. The store must preserve them byte for byte. */
  readonly payloadTexts: readonly string[];
}
