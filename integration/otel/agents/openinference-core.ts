/** The same with agent and tool spans of `@arizeai/openinference-core`. */
import { traceAgent, traceTool } from '@arizeai/openinference-core';
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai';
import OpenAI from 'openai';

import { CLIENT, openaiLoop } from '../openai-loop.ts';
import { PROMPT } from '../scene.ts';
import { startTelemetry, work } from '../telemetry.ts';

const provider = startTelemetry();
const instrumentation = new OpenAIInstrumentation();
instrumentation.manuallyInstrument(OpenAI);
const agent = traceAgent(
  async (_prompt: string) =>
    await openaiLoop(new OpenAI(CLIENT), async ({ id, name, args }, run) => {
      if (process.env['KILLED_AT'] === id) {
        await provider.forceFlush();
        process.kill(process.pid, 'SIGKILL');
      }
      return await traceTool(async (_args: object) => await run(), { name })(args);
    }),
  { name: 'repairer' },
);
await work(provider, () => agent(PROMPT));
