import type { AdapterCapabilities } from '../../host/adapter-capabilities.ts';

/** What advice can do in the @openai/agents package, with and without a session. */
export const openaiAgentsCapabilities: AdapterCapabilities = {
  pre_render: {
    persistence: 'ephemeral',
    timing: 'before',
    channel: 'request',
    note: 'A system message at the end of the first request after the user spoke, in that request alone.',
  },
  pre_tool_selection: {
    persistence: 'ephemeral',
    timing: 'before',
    channel: 'request',
    note: 'A system message at the end of the request, in that request alone; in no session and no history.',
  },
  pre_tool_execution: {
    persistence: 'persistent',
    timing: 'after',
    channel: 'tool-result',
    note: 'The call is made already; the text goes with its result.',
  },
  post_tool_result: {
    persistence: 'persistent',
    timing: 'before',
    channel: 'tool-result',
    note: 'Stays in history and session as part of the result of a wrapped tool.',
  },
  pre_response: {
    persistence: 'unsupported',
    timing: 'before',
    note: 'An output guardrail could only end the run with an error.',
  },
};
