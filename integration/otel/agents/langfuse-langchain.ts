/** The callback handler of `@langfuse/langchain` with an agent of LangChain.js. */
import { CallbackHandler } from '@langfuse/langchain';

import { langchainAgent } from '../langchain-agent.ts';
import { startTelemetry, work } from '../telemetry.ts';

await work(startTelemetry(), () => langchainAgent([new CallbackHandler()]));
