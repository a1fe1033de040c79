import {
  type AdapterCapabilities,
  FINAL_ANSWER,
  type PointCapability,
  requestCapabilities,
} from './host/adapter-capabilities.ts';
import { channelOf } from './claude/to-output.ts';

const inLastMessage = { persistence: 'ephemeral', timing: 'before', channel: 'last-message' } as const;

/** Advice capabilities of the AI SDK. They are the same for `generateText`, `streamText` and `ToolLoopAgent`, in ai 7 and 6. */
export const aiSdkCapabilities: AdapterCapabilities = {
  pre_render: { ...inLastMessage, note: 'In the first request that answers a message of the user.' },
  pre_tool_selection: { ...inLastMessage, note: 'One message of the user at the end of that request.' },
  pre_tool_execution: {
    ...inLastMessage,
    timing: 'after',
    note: 'The calls run first; it is read with the request that follows them.',
  },
  post_tool_result: {
    persistence: 'persistent',
    timing: 'before',
    channel: 'tool-result',
    note: 'After the result of its call, in every later request too.',
  },
  pre_response: FINAL_ANSWER,
};

/** Advice capabilities of `@anthropic-ai/sdk`. They are the same for `toolRunner` and for own loops. */
export const anthropicCapabilities: AdapterCapabilities = requestCapabilities({
  pre_render: 'A text at the end of the last message of the first request after the user spoke, in that request alone.',
  pre_tool_selection: 'A text at the end of the last message of the request, in that request alone.',
  post_tool_result: 'Stays in the history as part of the tool_result block.',
});

const inContext = (event: string): Pick<PointCapability, 'persistence' | 'channel'> => ({
  persistence: 'persistent',
  channel: channelOf(event),
});

/** By decision point. All are persistent, because context that a hook adds stays in the conversation. */
export const claudeAgentSdkCapabilities: AdapterCapabilities = {
  pre_render: {
    ...inContext('UserPromptSubmit'),
    timing: 'before',
    note: 'With the prompt; for a subagent through SubagentStart.',
  },
  pre_tool_selection: {
    ...inContext('PostToolBatch'),
    timing: 'before',
    note: 'Before the request that follows a batch of calls; before the first one it goes with the prompt.',
  },
  pre_tool_execution: {
    ...inContext('PreToolUse'),
    timing: 'after',
    note: 'The model reads it together with the result of the call.',
  },
  post_tool_result: {
    ...inContext('PostToolUse'),
    timing: 'before',
    note: 'PostToolUseFailure for a call that failed, PostToolBatch for one that was refused.',
  },
  pre_response: {
    ...inContext('Stop'),
    timing: 'forces-turn',
    note: 'Off until `forceTurnAtStop` is set, then at most once a run; SubagentStop for a subagent.',
  },
};

/** Advice capabilities of `@google/genai`. They are the same for automatic function calling and for own loops. */
export const googleGenAiCapabilities: AdapterCapabilities = requestCapabilities({
  pre_render: 'A message at the end of the first request after the user spoke, in that request alone.',
  pre_tool_selection: 'A message at the end of the request, in that request alone.',
  post_tool_result: 'Stays in the history as `feedback` of the function response.',
});

/** Advice capabilities of LangChain.js agents, including agents created with `createDeepAgent`. */
export const langchainCapabilities: AdapterCapabilities = requestCapabilities({
  pre_render: 'A message of the user at the end of the first request after the user spoke, in that request alone.',
  pre_tool_selection: 'A message of the user at the end of the request, in that request alone.',
  post_tool_result: 'Stays in the state as part of the tool message; after a `Command` it goes with the next request.',
});

const inRequest = { persistence: 'ephemeral', timing: 'before', channel: 'request' } as const;

/** Advice capabilities of Mastra agents. They are the same for `generate` and `stream`. */
export const mastraCapabilities: AdapterCapabilities = {
  pre_render: { ...inRequest, note: 'A message at the end of the first request after the user spoke.' },
  pre_tool_selection: { ...inRequest, note: 'A message at the end of the request; no memory keeps it.' },
  pre_tool_execution: {
    ...inRequest,
    timing: 'after',
    note: 'The calls run first; it is read with the request that follows them.',
  },
  post_tool_result: { ...inRequest, note: 'In the request that brings the result, and in no later one.' },
  pre_response: FINAL_ANSWER,
};

/** Advice capabilities of the openai package. They are the same for `runTools`, for loops over chat completions, and for Responses. */
export const openaiCapabilities: AdapterCapabilities = requestCapabilities({
  pre_render: 'A message at the end of the first request after the user spoke, in that request alone.',
  pre_tool_selection: 'A message at the end of the request, in that request alone.',
  post_tool_result: 'Stays in the history as part of the tool message, or of the function_call_output item.',
});

/** Advice capabilities of the @openai/agents package, with and without a session. */
export const openaiAgentsCapabilities: AdapterCapabilities = requestCapabilities({
  pre_render: 'A system message at the end of the first request after the user spoke, in that request alone.',
  pre_tool_selection:
    'A system message at the end of the request, in that request alone; in no session and no history.',
  post_tool_result: 'Stays in history and session as part of the result of a wrapped tool.',
  pre_response: 'An output guardrail could only end the run with an error.',
});

/** By the name that `coxswain doctor --adapters` prints. */
export const CAPABILITIES: Readonly<Record<string, AdapterCapabilities>> = {
  'claude-code': claudeAgentSdkCapabilities,
  'claude-agent-sdk': claudeAgentSdkCapabilities,
  anthropic: anthropicCapabilities,
  'google-genai': googleGenAiCapabilities,
  openai: openaiCapabilities,
  'openai-agents': openaiAgentsCapabilities,
  'ai-sdk': aiSdkCapabilities,
  langchain: langchainCapabilities,
  mastra: mastraCapabilities,
};
