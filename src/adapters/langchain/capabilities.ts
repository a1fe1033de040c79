import type { AdapterCapabilities } from '../host/adapter-capabilities.ts';
import { requestCapabilities } from '../host/request-capabilities.ts';

/** Advice capabilities of LangChain.js agents, including agents created with `createDeepAgent`. */
export const langchainCapabilities: AdapterCapabilities = requestCapabilities({
  pre_render: 'A message of the user at the end of the first request after the user spoke, in that request alone.',
  pre_tool_selection: 'A message of the user at the end of the request, in that request alone.',
  post_tool_result: 'Stays in the state as part of the tool message; after a `Command` it goes with the next request.',
});
