import { describe, expect, test } from 'vitest';
import { adapterContract } from '../test/support/adapter-contract/adapter-contract.ts';
import { harness } from './claude-agent-sdk.harness.ts';

adapterContract(harness, { describe, test, expect });
