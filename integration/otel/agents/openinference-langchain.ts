/** `@arizeai/openinference-instrumentation-langchain` with an agent of LangChain.js. */
import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain';
import * as callbackManager from '@langchain/core/callbacks/manager';

import { langchainAgent } from '../langchain-agent.ts';
import { startTelemetry, work } from '../telemetry.ts';

const provider = startTelemetry();
new LangChainInstrumentation().manuallyInstrument(callbackManager);
await work(provider, () => langchainAgent([]));
