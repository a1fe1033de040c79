import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool as agentTool } from '@openai/agents';
import { generateText, isStepCount, tool as aiTool } from 'ai';
import { createAgent, tool as langchainTool } from 'langchain';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { z } from 'zod';

import { coxswainAgent } from '../src/adapters/ai-sdk/index.ts';
import { coxswainMiddleware } from '../src/adapters/langchain/index.ts';
import { coxswainAgents } from '../src/adapters/openai-agents/index.ts';
import { openaiSteering } from '../src/adapters/openai/index.ts';
import { isDerived } from '../src/records/is-derived.ts';
import { Replay } from '../src/replay/replay.ts';
import { createCoxswain } from '../src/run/coxswain.ts';
import type { Run } from '../src/run/run.ts';
import { definePrompt } from '../src/steering/prompt/define-prompt.ts';
import { memoryStore } from '../src/store/memory/memory-store.ts';
import { payloadsOf } from '../src/testing/adapter-player.ts';
import { feedbackAfterEachCall } from '../src/testing/contract-advice.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { startFakeOpenAiServer } from '../src/testing/fake-openai-server.ts';
import type { ModelFunction, ModelScript } from '../src/testing/model-script.ts';
import { readAll, listAll } from '../src/testing/read-all.ts';
import { chatModel, handles } from './langchain.harness.ts';
import { scriptedAiModel } from './scripted-ai-model.ts';

setTracingDisabled(true);

const INNER = 'You dig.';
const LOOK = { calls: [{ id: 'look', name: 'look', args: {} }] };
const DELEGATE = { calls: [{ id: 'delegate', name: 'delegate', args: { input: 'Dig.' } }] };

/** The agent hands its work to the one below, which looks once. */
const byRequest: ModelFunction = (request) => {
  const text = JSON.stringify(request);
  const isAnswered = /"role":"tool"|"function_call_output"/.test(text);
  if (text.includes(INNER)) return isAnswered ? { text: 'soil' } : LOOK;
  return isAnswered ? { text: 'Done.' } : DELEGATE;
};

/** An agent whose tool `delegate` asks a model, through one adapter. @returns its last words */
type Tree = (run: Run, baseURL: string) => Promise<string | null | undefined>;

const TREES: Readonly<Record<string, Tree>> = {
  async openai(run, baseURL) {
    const steering = openaiSteering(run);
    const client = new OpenAI({ baseURL, apiKey: 'none', fetch: steering.fetch() });
    const toolOf = (name: string, work: () => Promise<string>) => ({
      type: 'function' as const,
      function: { name, description: name, parameters: { type: 'object' }, parse: JSON.parse, function: work },
    });
    const look = toolOf('look', async () => 'earth');
    const delegate = toolOf('delegate', async () => {
      const messages = [
        { role: 'system' as const, content: INNER },
        { role: 'user' as const, content: 'Dig.' },
      ];
      const inner = client.chat.completions.runTools({ model: 'm', messages, tools: steering.tools([look]) });
      return (await inner.finalContent()) ?? '';
    });
    const messages = [{ role: 'user' as const, content: 'Go.' }];
    const runner = client.chat.completions.runTools({ model: 'm', messages, tools: steering.tools([delegate]) });
    return await runner.finalContent();
  },
  async 'openai-agents'(run, baseURL) {
    const steering = coxswainAgents(run);
    const look = agentTool({
      name: 'look',
      description: 'Looks.',
      parameters: z.object({}),
      execute: async () => 'earth',
    });
    const digger = new Agent({ name: 'delegate', instructions: INNER, tools: steering.tools([look]) });
    const delegate = digger.asTool({ toolName: 'delegate', toolDescription: 'Digs.' });
    const runner = steering.attach(new Runner({ modelProvider: new OpenAIProvider({ baseURL, apiKey: 'none' }) }));
    return (await runner.run(new Agent({ name: 'boss', tools: [delegate] }), 'Go.')).finalOutput;
  },
  async langchain(run, baseURL) {
    const middleware = [coxswainMiddleware(run, handles)];
    const schema = z.object({});
    const look = langchainTool(async () => 'earth', { name: 'look', description: 'Looks.', schema });
    const inner = createAgent({ model: chatModel(baseURL), tools: [look], middleware, systemPrompt: INNER });
    const ask = async (): Promise<string> =>
      (await inner.invoke({ messages: [{ role: 'user', content: 'Dig.' }] })).messages.at(-1)?.text ?? '';
    const delegate = langchainTool(ask, { name: 'delegate', description: 'Digs.', schema });
    const agent = createAgent({ model: chatModel(baseURL), tools: [delegate], middleware });
    return (await agent.invoke({ messages: [{ role: 'user', content: 'Go.' }] })).messages.at(-1)?.text;
  },
  async 'ai-sdk'(run) {
    const cox = coxswainAgent(run);
    const modelOf = (...turns: ModelScript['turns']) => scriptedAiModel({ script: { turns } }).model;
    const inputSchema = z.object({});
    const stopWhen = isStepCount(5);
    const look = aiTool({ inputSchema, execute: async () => 'earth' });
    const inner = cox.wrap({ model: modelOf(LOOK, { text: 'soil' }), tools: { look } });
    const delegate = aiTool({
      inputSchema,
      execute: async () => (await generateText({ ...inner, prompt: 'Dig.', stopWhen })).text,
    });
    const outer = cox.wrap({ model: modelOf(DELEGATE, { text: 'Done.' }), tools: { delegate } });
    return (await generateText({ ...outer, prompt: 'Go.', stopWhen })).text;
  },
};

test.each(Object.entries(TREES))(
  '%s: a run below has deadline, budget, conversation and speakers of the one above, which knows its use; live equals replay',
  async (_name, play) => {
    const server = await startFakeOpenAiServer({ script: byRequest });
    const store = memoryStore();
    const steering = { feedback: [], guidance: [] };
    const cox = createCoxswain({ store, clock: createFakeClock(), ...steering });
    const prompt = definePrompt({ ns: 'tests', key: 'tree', feedbackProviders: [feedbackAfterEachCall()] });
    const limits = { deadline: { minutes: 10 }, budget: { tokens: 5_000 } };
    const run = cox.startRun({ runId: 'root', prompt, conversationId: 'talk', ...limits });
    try {
      expect(await play(run, `${server.url}/v1`)).toBe('Done.');
    } finally {
      await server.close();
    }
    await run.end();
    await cox.flush();
    const ids = (await listAll(store)).map(({ runId }) => runId).toSorted();
    const [own, child] = await Promise.all([
      readAll(store, 'root'),
      readAll(store, ids.find((id) => id !== 'root') ?? ''),
    ]);
    expect(ids.length).toBe(2);
    const [above] = payloadsOf(own, 'run_started');
    const [below] = payloadsOf(child, 'run_started');
    expect(below?.identity).toMatchObject({ agent_name: 'delegate', depth: 1, conversation_id: 'talk' });
    expect(child[0]?.parent_run_id).toBe('root');
    expect(below?.steering).toEqual(above?.steering);
    expect(below?.steering).toMatchObject({ budget: { tokens: 5_000 }, prompt_name: above?.steering?.prompt_name });
    // The providers of the prompt of the run above, and the calls of each run.
    expect(
      [own, child].map((records) => payloadsOf(records, 'feedback_delivered').map((said) => said.delivered)),
    ).toEqual([[true], [true]]);
    expect([own, child].map((records) => payloadsOf(records, 'tool_ended').map((call) => call.tool_name))).toEqual([
      ['delegate'],
      ['look'],
    ]);
    expect(payloadsOf(own, 'child_ended')).toMatchObject([{ usage: { calls: 1, tokens: 240 } }]);
    expect(run.usage).toMatchObject({ calls: 2, tokens: 480 });
    for (const records of [own, child]) {
      const replay = new Replay({ steering, prompts: [prompt] });
      const derived = records.map(({ payload }) => payload).filter(isDerived);
      expect(records.flatMap((record) => replay.take(record))).toEqual(derived);
      expect(derived.length).toBeGreaterThan(0);
    }
  },
);
