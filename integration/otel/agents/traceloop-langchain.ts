/** `@traceloop/node-server-sdk` with an agent of LangChain.js, below one agent span. */
import * as traceloop from '@traceloop/node-server-sdk';

import { startTraceloop } from '../start-traceloop.ts';
import { work } from '../telemetry.ts';

startTraceloop({ langchain: true });
const { langchainAgent } = await import('../langchain-agent.ts');
await work(traceloop, () => traceloop.withAgent({ name: 'repairer' }, () => langchainAgent([])));
