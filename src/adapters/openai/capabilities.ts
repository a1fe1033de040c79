import type { AdapterCapabilities } from '../../host/adapter-capabilities.ts';

/** What advice can do in the openai package: the same for `runTools`, loops over chat completions, and Responses. */
export const openaiCapabilities: AdapterCapabilities = {
  pre_render: {
    persistence: 'ephemeral',
    timing: 'before',
    channel: 'request',
    note: 'A message at the end of the first request after the user spoke, in that request alone.',
  },
  pre_tool_selection: {
    persistence: 'ephemeral',
    timing: 'before',
    channel: 'request',
    note: 'A message at the end of the request, in that request alone.',
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
    note: 'Stays in the history as part of the tool message, or of the function_call_output item.',
  },
  pre_response: {
    persistence: 'unsupported',
    timing: 'before',
    note: 'An answer without calls is final: there is no request after it.',
  },
};
