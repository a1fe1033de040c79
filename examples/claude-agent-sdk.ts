/**
 * An agent on the Claude Agent SDK that reads the same log again and again until coxswain tells it so. Offline: the SDK's
 * own program talks to a scripted model on this machine.
 *
 *     npm install
 *     node claude-agent-sdk.ts
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { createCoxswain, memoryStore } from 'coxswain';
import { claudeHooks, observed } from 'coxswain/claude-agent-sdk';
import { startFakeAnthropicServer } from 'coxswain/testing';
import { z } from 'zod';

// For a real model, with a key in ANTHROPIC_API_KEY: const model = { env: process.env, close: async () => {} };
const model = await scriptedModel();

const store = memoryStore();
const run = createCoxswain({ store }).startRun({ task: 'Find out why the deployment failed.' });

const readLog = tool('read_log', 'Reads the log of the deployment.', { lines: z.number() }, async () => ({
  content: [{ type: 'text', text: 'step 3 of 7: migrate the database' }],
}));

const messages = query({
  prompt: 'Why did the deployment fail?',
  options: {
    env: model.env,
    hooks: claudeHooks(run),
    includePartialMessages: true, // else the SDK does not say how many tokens an answer had
    settingSources: [],
    tools: [],
    mcpServers: { logs: createSdkMcpServer({ name: 'logs', alwaysLoad: true, tools: [readLog] }) },
    allowedTools: ['mcp__logs'],
    maxTurns: 10,
  },
});
for await (const message of observed(run, messages)) {
  if (message.type === 'result' && message.subtype === 'success') console.log(`The agent said: ${message.result}`);
}
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
  const home = mkdtempSync(join(tmpdir(), 'coxswain-example-'));
  const server = await startFakeAnthropicServer({
    script: (request) =>
      JSON.stringify(request).includes('[Feedback')
        ? { text: 'The database never came up.' }
        : { calls: [{ name: 'mcp__logs__read_log', args: { lines: 20 } }] },
  });
  return {
    env: {
      PATH: process.env.PATH,
      HOME: home,
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: 'of no use',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
    close: async () => {
      await server.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

// Prints:
// The agent said: The database never came up.
// It made 3 calls in 4 turns.
// coxswain said: You made the same call 3 times (calls 1 to 3), each with the same output.
// It reached the model by: PostToolUse additionalContext
// The run: ended
