import { describe, expect, test } from 'vitest';
import { adapterContract } from '../test/support/adapter-contract/adapter-contract.ts';
import { agentHarness, agentHarness6, harness, harness6 } from './ai-sdk.harness.ts';

for (const variant of [harness, agentHarness, harness6, agentHarness6]) {
  adapterContract(variant, { describe, test, expect });
}
