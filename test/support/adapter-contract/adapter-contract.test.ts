import { describe, expect, test } from 'vitest';

import { adapterContract } from './adapter-contract.ts';
import { plainAgentHarness } from '../plain-agent-harness.ts';

adapterContract(plainAgentHarness, { describe, test, expect });
