import { describe, expect, test } from 'vitest';

import { adapterContract } from '../test/support/adapter-contract/adapter-contract.ts';
import { harness, harnessOf6 } from './openai-responses.harness.ts';

adapterContract(harness, { describe, test, expect });
adapterContract(harnessOf6, { describe, test, expect });
