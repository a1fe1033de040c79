import type { AdapterCapabilities } from '../host/adapter-capabilities.ts';
import { requestCapabilities } from '../host/request-capabilities.ts';

/** Advice capabilities of `@google/genai`. They are the same for automatic function calling and for own loops. */
export const googleGenAiCapabilities: AdapterCapabilities = requestCapabilities({
  pre_render: 'A message at the end of the first request after the user spoke, in that request alone.',
  pre_tool_selection: 'A message at the end of the request, in that request alone.',
  post_tool_result: 'Stays in the history as `feedback` of the function response.',
});
