import { describe, expect, test } from 'vitest';

import { adapterContract } from '../src/testing/adapter-contract.ts';
import { chatHarness, harness } from './openai-agents.harness.ts';

adapterContract(harness, { describe, test, expect });
adapterContract(chatHarness, { describe, test, expect });
