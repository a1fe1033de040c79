import type { AdapterCapabilities } from '../host/adapter-capabilities.ts';
import { requestCapabilities } from '../host/request-capabilities.ts';

/** Advice capabilities of `@anthropic-ai/sdk`. They are the same for `toolRunner` and for own loops. */
export const anthropicCapabilities: AdapterCapabilities = requestCapabilities({
  pre_render: 'A text at the end of the last message of the first request after the user spoke, in that request alone.',
  pre_tool_selection: 'A text at the end of the last message of the request, in that request alone.',
  post_tool_result: 'Stays in the history as part of the tool_result block.',
});
