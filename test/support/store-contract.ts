import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { rounds } from './rounds.ts';
import type { ContractStore } from './store-contract/contract-store.ts';
import { unknownPayloadText } from './json-text.ts';
import { modelContract } from './store-contract-model.ts';
import { trajectoryStoreContract } from './store-contract/trajectory-store-contract.ts';

/**
 * Registers the tests that every `TrajectoryStore` of this package passes: the published contract, and random histories.
 *
 * @param open  makes an empty store
 * @param options  `modelRuns`: how many random histories are played; default 60, fewer where opening is slow.
 */
export function storeContract(
  name: string,
  open: () => Promise<ContractStore>,
  options: { readonly modelRuns?: number } = {},
): void {
  const payloadTexts = fc.sample(unknownPayloadText, { numRuns: 40, seed: 7 });
  trajectoryStoreContract(name, open, { describe, test, expect }, { payloadTexts });
  describe(`${name} keeps the store contract`, () => {
    modelContract(open, options.modelRuns ?? rounds({ full: 60, short: 20 }));
  });
}
