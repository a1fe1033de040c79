/**
 * An agent on @openai/agents that reads the same log again and again until coxswain tells it so. Offline: a scripted model
 * answers on this machine.
 *
 *     npm install
 *     node openai-agents.ts
 */
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';
import { createCoxswain, memoryStore } from 'coxswain';
import { coxswainAgents } from 'coxswain/openai-agents';
import { startFakeOpenAiServer } from 'coxswain/testing';
import { z } from 'zod';

// For a real model, with a key in OPENAI_API_KEY: const model = { settings: {}, close: async () => {} };
const model = await scriptedModel();
setTracingDisabled(true); // traces would go to OpenAI

const store = memoryStore();
const run = createCoxswain({ store }).startRun({ task: 'Find out why the deployment failed.' });
const steering = coxswainAgents(run);

const readLog = tool({
  name: 'read_log',
  description: 'Reads the log of the deployment.',
  parameters: z.object({ lines: z.number() }),
  execute: async () => 'step 3 of 7: migrate the database',
});
const agent = new Agent({
  name: 'operator',
  instructions: 'You look into failures.',
  tools: steering.tools([readLog]),
});
const runner = steering.attach(new Runner({ modelProvider: new OpenAIProvider(model.settings) }));
const result = await runner.run(agent, 'Why did the deployment fail?');
console.log(`The agent said: ${result.finalOutput}`);
await run.end();
await model.close();

console.log(`It made ${run.analysis.calls} calls in ${run.analysis.turns} turns.`);
for await (const { payload } of store.readRun(run.id)) {
  if (payload.kind === 'feedback_produced') console.log(`coxswain said: ${payload.feedback.summary}`);
  if (payload.kind === 'feedback_delivered') console.log(`It reached the model by: ${payload.channel}`);
  if (payload.kind === 'run_ended') console.log(`The run: ${payload.outcome}`);
}

/** Reads the log until it is told that this leads nowhere. */
async function scriptedModel() {
  const server = await startFakeOpenAiServer({
    script: (request) =>
      JSON.stringify(request).includes('[Feedback')
        ? { text: 'The database never came up.' }
        : { calls: [{ name: 'read_log', args: { lines: 20 } }] },
  });
  return { settings: { baseURL: `${server.url}/v1`, apiKey: 'none' }, close: () => server.close() };
}

// Prints:
// The agent said: The database never came up.
// It made 3 calls in 4 turns.
// coxswain said: You made the same call 3 times (calls 1 to 3), each with the same output.
// It reached the model by: tool-result
// The run: ended
