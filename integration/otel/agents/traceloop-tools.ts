/** The same with a span for each tool. */
import * as traceloop from '@traceloop/node-server-sdk';
import OpenAI from 'openai';

import { CLIENT, openaiLoop } from '../openai-loop.ts';
import { PROMPT } from '../scene.ts';
import { startTraceloop } from '../start-traceloop.ts';
import { work } from '../telemetry.ts';

startTraceloop({ openAI: OpenAI });
await work(traceloop, () =>
  traceloop.withAgent(
    { name: 'repairer' },
    (_prompt: string) =>
      openaiLoop(new OpenAI(CLIENT), ({ name, args }, run) =>
        traceloop.withTool({ name }, (_args: object) => run(), args),
      ),
    PROMPT,
  ),
);
