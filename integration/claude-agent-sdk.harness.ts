import { claudeAgentSdkCapabilities } from '../src/adapters/claude/index.ts';
import type { AdapterHarness } from '../test/support/adapter-contract/adapter-harness.ts';
import { HANDOVER } from '../test/support/with-below.ts';
import { claudeToolName, playClaude } from './claude-scene.ts';

/** The Claude Agent SDK with its own program, hooks and messages both in use. */
export const harness: AdapterHarness = {
  name: 'claude-agent-sdk',
  seesNoRequests: true,
  // A subagent's answers come with the use at their beginning, and its last one does not come.
  hidesTokensBelow: true,
  skips: {
    [HANDOVER]: 'a subagent answers the agent that started it',
  },
  structuresByTool: true,
  capabilities: claudeAgentSdkCapabilities,
  run: playClaude,
  toolNameOf: claudeToolName,
  feedbackPlace: 'nearby',
};
