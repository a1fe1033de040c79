import { describe, expect, test } from 'vitest';

import { adapterContract } from './adapter-contract.ts';
import { plainAgentHarness } from '../../test/support/plain-agent-harness.ts';

adapterContract(plainAgentHarness, { describe, test, expect });
