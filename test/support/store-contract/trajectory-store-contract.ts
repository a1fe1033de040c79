import type { ContractStore, StoreContractCase } from './contract-store.ts';
import type { ContractTools } from '../adapter-contract/contract-tools.ts';
import { appendContract } from './store-contract-append.ts';
import { damageContract } from './store-contract-damage.ts';
import { deleteContract } from './store-contract-delete.ts';
import { listContract } from './store-contract-list.ts';
import { readContract } from './store-contract-read.ts';
import { searchContract } from './store-contract-search.ts';
import { transactContract } from './store-contract-transact.ts';

export interface StoreContractOptions {
  /** Additional payloads of unknown kinds as JSON text. The store must preserve them byte for byte. Default: none. */
  readonly payloadTexts?: readonly string[];
}

/**
 * Registers the tests of a `TrajectoryStore`: append, read, list, transactions, search, delete, damage.
 *
 * @param open  creates an empty store
 * @param tools  the functions of the test runner: `{ describe, test, expect }`
 */
export function trajectoryStoreContract(
  name: string,
  open: () => Promise<ContractStore>,
  tools: ContractTools,
  options: StoreContractOptions = {},
): void {
  const test: StoreContractCase['test'] = (title, body) =>
    // Declares no named parameter, because some runners would treat it as a `done` callback.
    tools.test(title, async (...context: readonly unknown[]) => {
      const store = await open();
      try {
        await body(store, (reason) => skipIn(context[0], reason));
      } finally {
        await store.dispose();
      }
    });
  const contract = { test, expect: tools.expect, payloadTexts: options.payloadTexts ?? [] };
  tools.describe(`${name} keeps the store contract`, () => {
    appendContract(contract);
    readContract(contract);
    listContract(contract);
    transactContract(contract);
    searchContract(contract);
    deleteContract(contract);
    damageContract(contract);
  });
}

/** Skips the test if the runner supports skipping. Otherwise the test passes without checks. */
function skipIn(context: unknown, reason: string): void {
  // The context of Vitest is a function with properties.
  const skip: unknown = Object(context) === context ? Reflect.get(Object(context), 'skip') : undefined;
  if (typeof skip === 'function') Reflect.apply(skip, context, [reason]);
}
