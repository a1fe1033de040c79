import type { ContractStore, WithStore } from './contract-store.ts';
import type { ContractTools } from './contract-tools.ts';
import { appendContract } from './store-contract-append.ts';
import { damageContract } from './store-contract-damage.ts';
import { deleteContract } from './store-contract-delete.ts';
import { listContract } from './store-contract-list.ts';
import { readContract } from './store-contract-read.ts';
import { searchContract } from './store-contract-search.ts';
import { transactContract } from './store-contract-transact.ts';

/** What a store contract may be given besides. */
export interface StoreContractOptions {
  /** More texts of payloads of unknown kinds, to be kept byte for byte. Default: none. */
  readonly payloadTexts?: readonly string[];
}

/**
 * Registers the tests that every `TrajectoryStore` passes: appending, reading, listing, transactions, searching, deleting, damage.
 *
 * @param open  makes an empty store
 * @param tools  the test runner's own functions: `{ describe, test, expect }`
 */
export function trajectoryStoreContract(
  name: string,
  open: () => Promise<ContractStore>,
  { describe, test, expect }: ContractTools,
  options: StoreContractOptions = {},
): void {
  const withStore: WithStore =
    (body) =>
    // Declares no parameter: to some runners one means a callback that ends the test.
    async (...given: readonly unknown[]) => {
      const opened = await open();
      try {
        await body(opened, (reason) => skipIn(given[0], reason));
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

/** Says so where the runner hands its tests a way to; elsewhere the test has nothing to check. */
function skipIn(context: unknown, reason: string): void {
  // Vitest's context is a function with members.
  const skip: unknown = Object(context) === context ? Reflect.get(Object(context), 'skip') : undefined;
  if (typeof skip === 'function') Reflect.apply(skip, context, [reason]);
}
