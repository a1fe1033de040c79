/** `@arizeai/openinference-instrumentation-openai-agents` with `@openai/agents`. */
import { OpenAIAgentsInstrumentation } from '@arizeai/openinference-instrumentation-openai-agents';
import * as agents from '@openai/agents';

import { CLIENT } from '../openai-loop.ts';
import { PROMPT, runTool, SCHEMA, type ToolArguments } from '../scene.ts';
import { startTelemetry, work } from '../telemetry.ts';

const { API, STREAM } = process.env;
const provider = startTelemetry();
new OpenAIAgentsInstrumentation({ tracerProvider: provider }).manuallyInstrument(agents);
const agent = new agents.Agent({
  name: 'repairer',
  model: 'gpt-5',
  modelSettings: { store: false },
  tools: ['read', 'bash'].map((name) =>
    agents.tool({
      name,
      description: name,
      parameters: { ...SCHEMA, required: [], additionalProperties: true },
      strict: false,
      // The model is scripted, and its arguments fit the schema.
      execute: (args) => runTool(name, args as ToolArguments),
      errorFunction: (_context: unknown, error: unknown) => String(error),
    }),
  ),
});
const { baseURL, apiKey } = CLIENT;
const runner = new agents.Runner({
  modelProvider: new agents.OpenAIProvider({ baseURL, apiKey, useResponses: API === 'responses' }),
});
await work(provider, async () => {
  if (STREAM === '') return await runner.run(agent, PROMPT, { maxTurns: 20 });
  const result = await runner.run(agent, PROMPT, { maxTurns: 20, stream: true });
  for await (const event of result) void event;
  return await result.completed;
});
await agents.getGlobalTraceProvider().forceFlush();
await provider.forceFlush();
