import { describe, expect, test } from 'vitest';

import { adapterContract } from '../test/support/adapter-contract/adapter-contract.ts';
import { harness, loopHarness } from './anthropic.harness.ts';

for (const each of [harness, loopHarness]) adapterContract(each, { describe, test, expect });
