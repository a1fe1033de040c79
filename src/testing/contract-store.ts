import type { TrajectoryStore } from '../store/trajectory-store.ts';
import type { ContractTest, ContractTools } from './contract-tools.ts';

/** A modification of the stored data that bypasses the store. */
export type StoredDamage =
  | { readonly what: 'record' | 'missing record'; readonly runId: string; readonly seq: number }
  | { readonly what: 'summary' | 'snapshot'; readonly runId: string };

/** A store for one test. */
export interface ContractStore {
  readonly store: TrajectoryStore;
  /** Closes the store and opens another on the same data; absent for a store that lives in memory. */
  readonly reopen?: () => Promise<TrajectoryStore>;
  /**
   * Changes a letter of a stored text so that it still decodes, or removes a record, like a fault of the medium. Absent for a
   * driver without checksums.
   */
  readonly damage?: (damage: StoredDamage) => Promise<void>;
  /** Closes all stores and deletes the data. */
  dispose(): Promise<void>;
}

/** Runs a test on a new store and disposes of it. `skip` takes the reason if the store does not support the test. */
export type WithStore = (
  test: (opened: ContractStore, skip: (reason: string) => void) => Promise<void>,
) => () => Promise<void>;

/** Shared by all parts of the store contract. */
export interface StoreContractCase {
  readonly test: ContractTest;
  readonly expect: ContractTools['expect'];
  readonly withStore: WithStore;
  /** Additional payload texts of unknown kinds, which the store must keep byte for byte. */
  readonly payloadTexts: readonly string[];
}
