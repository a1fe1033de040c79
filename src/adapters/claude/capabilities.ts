import type { AdapterCapabilities } from '../host/adapter-capabilities.ts';
import { channelOf } from './to-output.ts';

/**
 * Advice capabilities of the Claude Agent SDK by decision point. All of them are persistent, because context that a hook adds
 * stays in the conversation.
 */
export const claudeAgentSdkCapabilities: AdapterCapabilities = {
  pre_render: {
    persistence: 'persistent',
    timing: 'before',
    channel: channelOf('UserPromptSubmit'),
    note: 'With the prompt; for a subagent through SubagentStart.',
  },
  pre_tool_selection: {
    persistence: 'persistent',
    timing: 'before',
    channel: channelOf('PostToolBatch'),
    note: 'Before the request that follows a batch of calls; before the first one it goes with the prompt.',
  },
  pre_tool_execution: {
    persistence: 'persistent',
    timing: 'after',
    channel: channelOf('PreToolUse'),
    note: 'The model reads it together with the result of the call.',
  },
  post_tool_result: {
    persistence: 'persistent',
    timing: 'before',
    channel: channelOf('PostToolUse'),
    note: 'PostToolUseFailure for a call that failed, PostToolBatch for one that was refused.',
  },
  pre_response: {
    persistence: 'persistent',
    timing: 'forces-turn',
    channel: channelOf('Stop'),
    note: 'Off until `forceTurnAtStop` is set, then at most once a run; SubagentStop for a subagent.',
  },
};
