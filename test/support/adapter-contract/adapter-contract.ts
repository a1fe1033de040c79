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
 * Registers the tests that every adapter must pass. Feedback and guidance must reach the model as the capability table states. The
 * records must match the actions of the agent. Faults of coxswain must not reach the agent.
 *
 * @param tools  the functions of the test runner: `adapterContract(harness, { describe, test, expect })`
 * @throws Error if the harness skips a test that does not exist
 */
export function adapterContract(harness: AdapterHarness, tools: ContractTools): void {
  tools.describe(`${harness.name} keeps the adapter contract`, () => {
    const contract = adapterContractCase(harness, tools);
    const { check, expect } = contract;
    check('the harness plays a scene identically each time', async () => {
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
