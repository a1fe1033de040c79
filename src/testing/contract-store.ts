import type { TrajectoryStore } from '../store/trajectory-store.ts';
import type { ContractTest, ContractTools } from './contract-tools.ts';

/** What a test changes behind a store's back. */
export type StoredDamage =
  | { readonly what: 'record' | 'missing record'; readonly runId: string; readonly seq: number }
  | { readonly what: 'summary' | 'snapshot'; readonly runId: string };

/** A store for one test. */
export interface ContractStore {
  readonly store: TrajectoryStore;
  /** Closes the store and opens another on the same data; absent for a store that lives in memory. */
  readonly reopen?: () => Promise<TrajectoryStore>;
  /**
   * Changes a letter of a stored text, or removes a record, as a fault of the medium would: so that it decodes all the same. Absent
   * for a store whose driver keeps no checksums.
   */
  readonly damage?: (damage: StoredDamage) => Promise<void>;
  /** Closes whatever is open and deletes the data. */
  dispose(): Promise<void>;
}

/** Runs a test on a new store and disposes of it. `skip` says why it cannot be run on this one. */
export type WithStore = (
  test: (opened: ContractStore, skip: (reason: string) => void) => Promise<void>,
) => () => Promise<void>;

/** What every part of the store contract works with. */
export interface StoreContractCase {
  readonly test: ContractTest;
  readonly expect: ContractTools['expect'];
  readonly withStore: WithStore;
  /** Texts of payloads of kinds that no version knows, to be kept byte for byte, besides those of the contract. */
  readonly payloadTexts: readonly string[];
}
