import type { AdapterCapabilities } from '../../host/adapter-capabilities.ts';

/** What advice can do in agents of LangChain.js, `createDeepAgent` included. */
export const langchainCapabilities: AdapterCapabilities = {
  pre_render: {
    persistence: 'ephemeral',
    timing: 'before',
    channel: 'request',
    note: 'A message of the user at the end of the first request after the user spoke, in that request alone.',
  },
  pre_tool_selection: {
    persistence: 'ephemeral',
    timing: 'before',
    channel: 'request',
    note: 'A message of the user at the end of the request, in that request alone.',
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
    note: 'Stays in the state as part of the tool message; after a `Command` it goes with the next request.',
  },
  pre_response: {
    persistence: 'unsupported',
    timing: 'before',
    note: 'An answer without calls is final: there is no request after it.',
  },
};
