/** `@langfuse/openai`, with agent and tool observations of `@langfuse/tracing`. Exported by the ordinary exporters. */
import { observeOpenAI } from '@langfuse/openai';
import { startActiveObservation } from '@langfuse/tracing';
import OpenAI from 'openai';

import { CLIENT, openaiLoop } from '../openai-loop.ts';
import { PROMPT } from '../scene.ts';
import { startTelemetry, work } from '../telemetry.ts';

await work(startTelemetry(), () =>
  startActiveObservation(
    'repairer',
    async (agent) => {
      agent.update({ input: PROMPT });
      const text = await openaiLoop(observeOpenAI(new OpenAI(CLIENT)), ({ name, args }, run) =>
        startActiveObservation(
          name,
          async (tool) => {
            tool.update({ input: args });
            try {
              const output = await run();
              tool.update({ output });
              return output;
            } catch (error) {
              tool.update({ level: 'ERROR', statusMessage: String(error) });
              throw error;
            }
          },
          { asType: 'tool' },
        ),
      );
      agent.update({ output: text });
    },
    { asType: 'agent' },
  ),
);
