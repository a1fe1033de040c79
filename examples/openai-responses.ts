/**
 * An agent with its own loop over the openai package's Responses, whose tool fails again and again until coxswain tells
 * it so. Offline: a scripted model answers on this machine.
 *
 *     npm install
 *     node openai-responses.ts
 */
import { createCoxswain, memoryStore } from 'coxswain';
import { openaiSteering } from 'coxswain/openai';
import { startFakeOpenAiServer } from 'coxswain/testing';
import OpenAI from 'openai';

// For a real model, with a key in OPENAI_API_KEY: const model = { settings: {}, close: async () => {} };
const model = await scriptedModel();

const store = memoryStore();
const run = createCoxswain({ store }).startRun({ task: 'Find out why the deployment failed.' });
const steering = openaiSteering(run, { onToolError: 'result' });

const client = new OpenAI({ ...model.settings, fetch: steering.fetch() });
const tools: OpenAI.Responses.Tool[] = [
  {
    type: 'function',
    name: 'read_log',
    description: 'Reads the log of the deployment.',
    parameters: { type: 'object', properties: { lines: { type: 'number' } } },
    strict: false,
  },
];
function readLog(): string {
  throw new Error('ENOENT: no such file or directory, open deploy.log');
}

const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Why did the deployment fail?' }];
for (;;) {
  const response = await client.responses.create({ model: 'gpt-5-mini', store: false, input, tools });
  const calls = response.output.filter((item) => item.type === 'function_call');
  if (calls.length === 0) {
    console.log(`The agent said: ${response.output_text}`);
    break;
  }
  const outputs = await Promise.all(calls.map((call) => steering.runToolCall(call, readLog)));
  input.push(...(response.output as OpenAI.Responses.ResponseInput), ...outputs);
}
await run.end();
await model.close();

console.log(
  `It made ${run.analysis.calls} calls in ${run.analysis.turns} turns, ${run.analysis.errors} of them failed.`,
);
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
        ? { text: 'There is no log of the deployment.' }
        : { calls: [{ name: 'read_log', args: { lines: 20 } }] },
  });
  return { settings: { baseURL: `${server.url}/v1`, apiKey: 'none' }, close: () => server.close() };
}

// Prints:
// The agent said: There is no log of the deployment.
// It made 3 calls in 4 turns, 3 of them failed.
// coxswain said: 3 calls of one tool failed in the same way (calls 1 to 3). Last result: not-found error.
// It reached the model by: tool-result
// The run: ended
