import { claudeAgentSdkCapabilities } from '../src/adapters/claude/index.ts';
import type { AdapterHarness } from '../src/testing/adapter-harness.ts';
import { claudeToolName, playClaude } from './claude-scene.ts';

/** The Claude Agent SDK with its own program, hooks and messages both in use. */
export const harness: AdapterHarness = {
  name: 'claude-agent-sdk',
  seesNoRequests: true,
  capabilities: claudeAgentSdkCapabilities,
  run: playClaude,
  toolNameOf: claudeToolName,
  feedbackPlace: 'nearby',
};
