/**
 * An agent on the openai package's `runTools` that reads the same log again and again until coxswain tells it so. Offline:
 * a scripted model answers on this machine.
 *
 *     npm install
 *     node openai-chat.ts
 */
import { createCoxswain, memoryStore } from 'coxswain';
import { openaiSteering } from 'coxswain/openai';
import { startFakeOpenAiServer } from 'coxswain/testing';
import OpenAI from 'openai';

// For a real model, with a key in OPENAI_API_KEY: const model = { settings: {}, close: async () => {} };
const model = await scriptedModel();

const store = memoryStore();
const run = createCoxswain({ store }).startRun({ task: 'Find out why the deployment failed.' });
const steering = openaiSteering(run);

const client = new OpenAI({ ...model.settings, fetch: steering.fetch() });
const readLog = {
  type: 'function' as const,
  function: {
    name: 'read_log',
    description: 'Reads the log of the deployment.',
    parameters: { type: 'object' as const, properties: { lines: { type: 'number' as const } } },
    parse: (text: string): object => JSON.parse(text),
    function: () => 'step 3 of 7: migrate the database',
  },
};
const runner = client.chat.completions.runTools({
  model: 'gpt-5-mini',
  messages: [{ role: 'user', content: 'Why did the deployment fail?' }],
  tools: steering.tools([readLog]),
});
console.log(`The agent said: ${await runner.finalContent()}`);
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
