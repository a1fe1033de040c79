import type { AdapterCapabilities } from '../host/adapter-capabilities.ts';
import { requestCapabilities } from '../host/request-capabilities.ts';

/** Advice capabilities of the openai package. They are the same for `runTools`, for loops over chat completions, and for Responses. */
export const openaiCapabilities: AdapterCapabilities = requestCapabilities({
  pre_render: 'A message at the end of the first request after the user spoke, in that request alone.',
  pre_tool_selection: 'A message at the end of the request, in that request alone.',
  post_tool_result: 'Stays in the history as part of the tool message, or of the function_call_output item.',
});
