import type { AdapterCapabilities } from '../host/adapter-capabilities.ts';
import { requestCapabilities } from '../host/request-capabilities.ts';

/** Advice capabilities of the @openai/agents package, with and without a session. */
export const openaiAgentsCapabilities: AdapterCapabilities = requestCapabilities({
  pre_render: 'A system message at the end of the first request after the user spoke, in that request alone.',
  pre_tool_selection:
    'A system message at the end of the request, in that request alone; in no session and no history.',
  post_tool_result: 'Stays in history and session as part of the result of a wrapped tool.',
  pre_response: 'An output guardrail could only end the run with an error.',
});
