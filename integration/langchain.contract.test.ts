import { describe, expect, test } from 'vitest';

import { adapterContract } from '../src/testing/adapter-contract.ts';
import { harness } from './langchain.harness.ts';

adapterContract(harness, { describe, test, expect });
