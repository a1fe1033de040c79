import type { AdapterCapabilities } from '../host/adapter-capabilities.ts';

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
  pre_response: {
    persistence: 'unsupported',
    timing: 'before',
    note: 'An answer without calls is final: there is no request after it.',
  },
};
