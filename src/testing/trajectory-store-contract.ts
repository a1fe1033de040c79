import type { ContractStore, WithStore } from './contract-store.ts';
import type { ContractTools } from './contract-tools.ts';
import { appendContract } from './store-contract-append.ts';
import { damageContract } from './store-contract-damage.ts';
import { deleteContract } from './store-contract-delete.ts';
import { listContract } from './store-contract-list.ts';
import { readContract } from './store-contract-read.ts';
import { searchContract } from './store-contract-search.ts';
import { transactContract } from './store-contract-transact.ts';

export interface StoreContractOptions {
  /** Additional payload texts of unknown kinds, which the store must keep byte for byte. Default: none. */
  readonly payloadTexts?: readonly string[];
}

/**
 * Registers the tests of a `TrajectoryStore`: appending, reading, listing, transactions, searching, deleting, damage.
 *
 * @param open  creates an empty store
 * @param tools  functions of the test runner: `{ describe, test, expect }`
 */
export function trajectoryStoreContract(
  name: string,
  open: () => Promise<ContractStore>,
  { describe, test, expect }: ContractTools,
  options: StoreContractOptions = {},
): void {
  const withStore: WithStore =
    (body) =>
    // Declares no parameter, which some runners would take for a `done` callback.
    async (...context: readonly unknown[]) => {
      const opened = await open();
      try {
        await body(opened, (reason) => skipIn(context[0], reason));
      } finally {
        await opened.dispose();
      }
    };
  const contract = { test, expect, withStore, payloadTexts: options.payloadTexts ?? [] };
  describe(`${name} keeps the store contract`, () => {
    appendContract(contract);
    readContract(contract);
    listContract(contract);
    transactContract(contract);
    searchContract(contract);
    deleteContract(contract);
    damageContract(contract);
  });
}

/** Skips the test if the runner supports it; otherwise the test checks nothing. */
function skipIn(context: unknown, reason: string): void {
  // Vitest's context is a function with members.
  const skip: unknown = Object(context) === context ? Reflect.get(Object(context), 'skip') : undefined;
  if (typeof skip === 'function') Reflect.apply(skip, context, [reason]);
}
