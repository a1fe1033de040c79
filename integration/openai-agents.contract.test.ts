import { describe, expect, test } from 'vitest';

import { adapterContract } from '../test/support/adapter-contract/adapter-contract.ts';
import { chatHarness, harness } from './openai-agents.harness.ts';

adapterContract(harness, { describe, test, expect });
adapterContract(chatHarness, { describe, test, expect });
