/**
 * An agent on the Vercel AI SDK that reads the same log again and again until coxswain tells it so. Offline: the model is
 * scripted with `ai/test`.
 *
 *     npm install
 *     node ai-sdk.ts
 */
import { generateText, isStepCount, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { createCoxswain, memoryStore } from 'coxswain';
import { coxswainAgent } from 'coxswain/ai-sdk';
import { z } from 'zod';

// For a real model, with a key in AI_GATEWAY_API_KEY: const model = gateway('anthropic/claude-sonnet-4.5');
const model = scriptedModel();

const store = memoryStore();
const run = createCoxswain({ store }).startRun({ task: 'Find out why the deployment failed.' });
const cox = coxswainAgent(run);

const result = await generateText({
  ...cox.wrap({
    model,
    tools: {
      read_log: tool({
        description: 'Reads the log of the deployment.',
        inputSchema: z.object({ lines: z.number() }),
        execute: async () => 'step 3 of 7: migrate the database',
      }),
    },
  }),
  prompt: 'Why did the deployment fail?',
  stopWhen: isStepCount(10),
});
await run.end();

console.log(`The agent said: ${result.text}`);
console.log(`It made ${run.analysis.calls} calls in ${run.analysis.turns} turns.`);
for await (const { payload } of store.readRun(run.id)) {
  if (payload.kind === 'feedback_produced') console.log(`coxswain said: ${payload.feedback.summary}`);
  if (payload.kind === 'feedback_delivered') console.log(`It reached the model by: ${payload.channel}`);
  if (payload.kind === 'run_ended') console.log(`The run: ${payload.outcome}`);
}

/** Reads the log until it is told that this leads nowhere. */
function scriptedModel(): MockLanguageModelV4 {
  let calls = 0;
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const isTold = JSON.stringify(prompt).includes('[Feedback');
      calls += 1;
      return {
        content: isTold
          ? [{ type: 'text', text: 'The database never came up.' }]
          : [{ type: 'tool-call', toolCallId: `call_${calls}`, toolName: 'read_log', input: '{"lines":20}' }],
        finishReason: { unified: isTold ? 'stop' : 'tool-calls', raw: undefined },
        usage: {
          inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 20, text: 20, reasoning: 0 },
        },
        warnings: [],
      };
    },
  });
}

// Prints:
// The agent said: The database never came up.
// It made 3 calls in 4 turns.
// coxswain said: You made the same call 3 times (calls 1 to 3), each with the same output.
// It reached the model by: tool-result
// The run: ended
