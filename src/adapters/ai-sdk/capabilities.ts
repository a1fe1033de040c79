import type { AdapterCapabilities } from '../host/adapter-capabilities.ts';

/** Advice capabilities of the AI SDK. They are the same for `generateText`, `streamText` and `ToolLoopAgent`, in ai 7 and 6. */
export const aiSdkCapabilities: AdapterCapabilities = {
  pre_render: {
    persistence: 'ephemeral',
    timing: 'before',
    channel: 'last-message',
    note: 'In the first request that answers a message of the user.',
  },
  pre_tool_selection: {
    persistence: 'ephemeral',
    timing: 'before',
    channel: 'last-message',
    note: 'One message of the user at the end of that request.',
  },
  pre_tool_execution: {
    persistence: 'ephemeral',
    timing: 'after',
    channel: 'last-message',
    note: 'The calls run first; it is read with the request that follows them.',
  },
  post_tool_result: {
    persistence: 'persistent',
    timing: 'before',
    channel: 'tool-result',
    note: 'After the result of its call, in every later request too.',
  },
  pre_response: {
    persistence: 'ephemeral',
    timing: 'forces-turn',
    channel: 'last-message',
    note: 'The answer is discarded and asked for again; off by default, once a run.',
  },
};
