/** `@traceloop/node-server-sdk` (OpenLLMetry) with `openai`, below one agent span. Tools are not traced. */
import * as traceloop from '@traceloop/node-server-sdk';
import OpenAI from 'openai';

import { CLIENT, openaiLoop } from '../openai-loop.ts';
import { startTraceloop } from '../start-traceloop.ts';
import { work } from '../telemetry.ts';

startTraceloop({ openAI: OpenAI });
await work(traceloop, () => traceloop.withAgent({ name: 'repairer' }, () => openaiLoop(new OpenAI(CLIENT))));
