import { adapterContractCase } from './adapter-contract-case.ts';
import { childrenContract } from './adapter-contract-children.ts';
import { faultsContract } from './adapter-contract-faults.ts';
import { feedbackContract } from './adapter-contract-feedback.ts';
import { guidanceContract } from './adapter-contract-guidance.ts';
import { recordsContract } from './adapter-contract-records.ts';
import type { AdapterHarness } from './adapter-harness.ts';
import { SEQUENTIAL } from './contract-scenes.ts';
import type { ContractTools } from './contract-tools.ts';

/**
 * Registers the tests that every adapter passes: feedback and guidance reach the model as the capability table says,
 * what happens is on record, and no fault of ours reaches the agent.
 *
 * @param tools  the test runner's own functions: `adapterContract(harness, { describe, test, expect })`
 * @throws Error when the harness skips a test that does not exist
 */
export function adapterContract(harness: AdapterHarness, tools: ContractTools): void {
  tools.describe(`${harness.name} keeps the adapter contract`, () => {
    const contract = adapterContractCase(harness, tools);
    const { check, expect } = contract;
    check('the harness plays a scene the same each time', async () => {
      const [one, other] = [await harness.run(SEQUENTIAL), await harness.run(SEQUENTIAL)];
      expect(one).toEqual(other);
      expect(one.ended).toBe('normally');
      expect(one.requests.length).toBe(3);
    });
    feedbackContract(contract);
    guidanceContract(contract);
    recordsContract(contract);
    childrenContract(contract);
    faultsContract(contract);
    contract.checkSkips();
  });
}
