import { describe, expect, test } from 'vitest';

import { adapterContract } from '../test/support/adapter-contract/adapter-contract.ts';
import { harness, harnessOf6, loopHarness } from './openai-chat.harness.ts';

adapterContract(harness, { describe, test, expect });
adapterContract(harnessOf6, { describe, test, expect });
adapterContract(loopHarness, { describe, test, expect });
