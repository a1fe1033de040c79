import { describe, expect, test } from 'vitest';

import { adapterParity } from '../test/support/adapter-contract/adapter-parity.ts';
import { loopHarness as anthropic } from './anthropic.harness.ts';
import { loopHarness as googleGenAi } from './google-genai.harness.ts';
import { harness as aiSdk } from './ai-sdk.harness.ts';
import { harness as claudeAgentSdk } from './claude-agent-sdk.harness.ts';
import { harness as langchain } from './langchain.harness.ts';
import { harness as mastra } from './mastra.harness.ts';
import { harness as openaiAgents } from './openai-agents.harness.ts';
import { loopHarness as openaiChat } from './openai-chat.harness.ts';
import { harness as openaiResponses } from './openai-responses.harness.ts';

adapterParity(
  [aiSdk, openaiChat, openaiResponses, openaiAgents, langchain, mastra, claudeAgentSdk, anthropic, googleGenAi],
  {
    describe,
    test,
    expect,
  },
);
