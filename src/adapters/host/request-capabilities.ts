import type { AdapterCapabilities } from './adapter-capabilities.ts';

/** Notes for users that differ between SDKs. */
export interface RequestNotes {
  readonly pre_render: string;
  readonly pre_tool_selection: string;
  readonly post_tool_result: string;
  readonly pre_response?: string;
}

export function requestCapabilities(notes: RequestNotes): AdapterCapabilities {
  const inRequest = { persistence: 'ephemeral', timing: 'before', channel: 'request' } as const;
  const inResult = { persistence: 'persistent', channel: 'tool-result' } as const;
  const final = 'An answer without calls is final: there is no request after it.';
  return {
    pre_render: { ...inRequest, note: notes.pre_render },
    pre_tool_selection: { ...inRequest, note: notes.pre_tool_selection },
    pre_tool_execution: {
      ...inResult,
      timing: 'after',
      note: 'The call is made already; the text goes with its result.',
    },
    post_tool_result: { ...inResult, timing: 'before', note: notes.post_tool_result },
    pre_response: { persistence: 'unsupported', timing: 'before', note: notes.pre_response ?? final },
  };
}
