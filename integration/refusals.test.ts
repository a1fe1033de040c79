import type { Options } from '@anthropic-ai/claude-agent-sdk';
import { MemorySaver, Command } from '@langchain/langgraph';
import { Agent as MastraAgent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool as agentTool } from '@openai/agents';
import { generateText, isStepCount, jsonSchema, tool as aiTool } from 'ai';
import { createAgent, humanInTheLoopMiddleware, tool as chainTool } from 'langchain';
import { expect, test } from 'vitest';
import { z } from 'zod';

import type { AdapterOptions } from '../src/adapters/host/adapter-options.ts';
import { coxswainAgent } from '../src/adapters/ai-sdk/index.ts';
import { coxswainMiddleware } from '../src/adapters/langchain/index.ts';
import { coxswainMastra } from '../src/adapters/mastra/index.ts';
import { coxswainAgents } from '../src/adapters/openai-agents/index.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { REFUSAL_ADVICE } from '../src/core/steering/prompt/refusal.ts';
import { payloadsOf, playScene } from '../test/support/adapter-contract/adapter-player.ts';
import { SEQUENTIAL } from '../test/support/adapter-contract/contract-scenes.ts';
import type { ModelScript } from '../src/testing/model-script.ts';
import { refusal } from '../src/core/run/refusal.ts';
import { standardSteering } from '../src/core/steering/standard-steering.ts';
import { recordedRun } from '../test/support/recorded-run.ts';
import { withOpenAi } from './adapter-scene.ts';
import { harness } from './claude-agent-sdk.harness.ts';
import { playClaude } from './claude-scene.ts';
import { harness as ai } from './ai-sdk.harness.ts';
import { chatModel, handles, harness as langchain } from './langchain.harness.ts';
import { loopHarness as anthropic } from './anthropic.harness.ts';
import { loopHarness as googleGenAi } from './google-genai.harness.ts';
import { harness as mastraHarness, modelAt } from './mastra.harness.ts';
import { loopHarness as openaiChat } from './openai-chat.harness.ts';
import { harness as openaiResponses } from './openai-responses.harness.ts';
import { scriptedAiModel } from './scripted-ai-model.ts';

setTracingDisabled(true);

/** The words of a person, which no table can know. */
const NO = 'Not this one, please.';

/** The model asks for the same refused call in each of four turns. */
const INSISTING: ModelScript = {
  turns: [...Array.from({ length: 4 }, () => ({ calls: [{ name: 'pay', args: { eur: 5 } }] })), { text: 'Done.' }],
};

function outcomesOf(records: readonly TrajectoryRecord[]): readonly (string | undefined)[] {
  return payloadsOf(records, 'tool_ended').map(({ outcome }) => outcome);
}

/** Only the sentence about refusals was said. */
function expectToAsk(records: readonly TrajectoryRecord[]): void {
  const said = payloadsOf(records, 'feedback_produced').map(({ text }) => text.replace(/^\[.*\]\n\n/, ''));
  expect(said).toEqual([REFUSAL_ADVICE]);
}

test('OpenAI Agents: a rejected approval and a rejecting guardrail are refusals', async () => {
  await withOpenAi(INSISTING, standardSteering(), async ({ run, baseURL, records }) => {
    const steering = coxswainAgents(run);
    let runs = 0;
    const pay = agentTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ eur: z.number() }),
      needsApproval: async () => (runs += 1) > 1,
      execute: async () => 'paid',
      inputGuardrails: [{ name: 'limit', run: async () => ({ behavior: { type: 'rejectContent', message: NO } }) }],
    });
    const agent = new Agent({ name: 'a', tools: steering.tools([pay]) });
    const runner = steering.attach(new Runner({ modelProvider: new OpenAIProvider({ baseURL, apiKey: 'none' }) }));
    let result = await runner.run(agent, 'Go.');
    for (let round = 0; result.interruptions.length > 0 && round < 9; round += 1) {
      for (const interruption of result.interruptions)
        result.state.reject(interruption, round === 0 ? {} : { message: NO });
      result = await runner.run(agent, result.state);
    }
    const { own } = await records();
    expect(outcomesOf(own)).toEqual(['refused', 'refused', 'refused', 'refused']);
    expectToAsk(own);
  });
});

test('LangChain: a call that a person rejects is a refusal', async () => {
  await withOpenAi(INSISTING, standardSteering(), async ({ run, baseURL, records }) => {
    const pay = chainTool(async () => 'paid', {
      name: 'pay',
      description: 'Pays.',
      schema: z.object({ eur: z.number() }),
    });
    const steering = coxswainMiddleware(run, handles);
    // The types of the package do not hold under exactOptionalPropertyTypes.
    const askFirst = humanInTheLoopMiddleware as (options: object) => unknown;
    const middleware = [askFirst({ interruptOn: { pay: true } }) as typeof steering, steering];
    const agent = createAgent({ model: chatModel(baseURL), tools: [pay], checkpointer: new MemorySaver(), middleware });
    const config = { configurable: { thread_id: 't' } };
    await agent.invoke({ messages: [{ role: 'user', content: 'Go.' }] }, config);
    for (let round = 0; round < 4; round += 1) {
      const decision = round === 0 ? { type: 'reject' } : { type: 'reject', message: NO };
      await agent.invoke(new Command({ resume: { decisions: [decision] } }), config);
    }
    const { own } = await records();
    expect(outcomesOf(own)).toEqual(['refused', 'refused', 'refused', 'refused']);
    expectToAsk(own);
  });
});

test.each(['the host says it', 'a person gives a reason', 'a hook of the user stops it', 'the tool throws it'])(
  'Mastra: a declined call is a refusal: %s',
  async (how) => {
    await withOpenAi(INSISTING, standardSteering(), async ({ run, baseURL, records }) => {
      const isHook = how === 'a hook of the user stops it';
      const isThrown = how === 'the tool throws it';
      const pay = createTool({
        id: 'pay',
        description: 'Pays.',
        inputSchema: z.object({ eur: z.number() }),
        requireApproval: !isHook && !isThrown,
        execute: async () => {
          if (isThrown) throw refusal(NO);
          return 'paid';
        },
      });
      const agent = new MastraAgent(
        coxswainMastra(run).wrap({
          id: 'a',
          name: 'A',
          instructions: 'You pay.',
          model: modelAt(baseURL),
          tools: { pay },
          ...(isHook ? { hooks: { beforeToolCall: () => ({ proceed: false as const, output: NO }) } } : {}),
        }),
      );
      const mastra = new Mastra({ agents: { a: agent }, storage: new InMemoryStore(), logger: false });
      const payer = mastra.getAgent('a');
      let output = await payer.generate('Go.', { maxSteps: 9 });
      for (let round = 0; output.finishReason === 'suspended' && round < 9; round += 1) {
        const message = how === 'a person gives a reason' ? { reason: NO } : {};
        output = await payer.declineToolCallGenerate({
          runId: output.runId ?? '',
          toolCallId: output.suspendPayload.toolCallId,
          ...message,
        });
      }
      const { own } = await records();
      expect(outcomesOf(own)).toEqual(['refused', 'refused', 'refused', 'refused']);
      expectToAsk(own);
    });
  },
);

test.each([openaiChat, openaiResponses, anthropic, googleGenAi])(
  '$name: a call of an own loop whose answer isRefused describes is a refusal',
  async (loop) => {
    const scene = { ...SEQUENTIAL, script: INSISTING, tools: { pay: () => NO } };
    const isRefused = (result: unknown): boolean => result === NO;
    const played = await playScene(
      { ...loop, run: (given) => loop.run({ ...given, adapter: { isRefused } as AdapterOptions }) },
      scene,
      standardSteering(),
    );
    expect(outcomesOf(played.records)).toEqual(['refused', 'refused', 'refused', 'refused']);
    expectToAsk(played.records);
  },
);

test.each([openaiChat, openaiResponses, anthropic, googleGenAi, ai, langchain, mastraHarness])(
  '$name: isError says which result is a failure',
  async (loop) => {
    const turns = [1, 2].map((eur) => ({ calls: [{ name: 'pay', args: { eur } }] }));
    const scene = {
      ...SEQUENTIAL,
      script: { turns: [...turns, { text: 'Done.' }] },
      tools: { pay: (args: unknown) => (JSON.stringify(args).includes('1') ? 'no money' : 'paid') },
    };
    const isError = (result: unknown, toolName: string): boolean =>
      toolName === 'pay' && JSON.stringify(result).includes('no money');
    const played = await playScene(
      { ...loop, run: (given) => loop.run({ ...given, adapter: { isError } as AdapterOptions }) },
      scene,
      {},
    );
    expect(payloadsOf(played.records, 'tool_ended').map(({ is_error }) => is_error)).toEqual([true, false]);
  },
);

test('AI SDK: a call that toolApproval denies is a refusal', async () => {
  const { run, recorded } = recordedRun(standardSteering());
  const { model } = scriptedAiModel({ script: INSISTING });
  const pay = aiTool({ inputSchema: jsonSchema<{ eur: number }>({ type: 'object' }), execute: async () => 'paid' });
  const toolApproval = { pay: { type: 'denied', reason: NO } } as const;
  const cox = coxswainAgent(run);
  await generateText({
    ...cox.wrap({ model, tools: { pay } }),
    toolApproval,
    prompt: 'Go.',
    stopWhen: isStepCount(9),
  });
  expect((await recorded('tool_ended')).map(({ outcome }) => outcome)).toEqual([
    'refused',
    'refused',
    'refused',
    'refused',
  ]);
  const said = (await recorded('feedback_produced')).map(({ text }) => text.replace(/^\[.*\]\n\n/, ''));
  expect(said).toEqual([REFUSAL_ADVICE]);
});

test.each([
  ['a hook', { isUnobserved: false }],
  ['canUseTool', { isUnobserved: false }],
  ['canUseTool', { isUnobserved: true }],
])('Claude Agent SDK: a call that %s denies is a refusal: %j', async (gate, more) => {
  const call = { name: 'Bash', args: { command: 'touch /nowhere/x', description: 'for the test' } };
  const script: ModelScript = { turns: [...Array.from({ length: 4 }, () => ({ calls: [call] })), { text: 'Done.' }] };
  const deny = { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: NO } as const;
  const hooks: NonNullable<Options['hooks']> = {
    PreToolUse: [{ matcher: 'Bash', hooks: [async () => ({ hookSpecificOutput: deny })] }],
  };
  const canUseTool: NonNullable<Options['canUseTool']> = async () => ({ behavior: 'deny', message: NO });
  const scene = {
    ...SEQUENTIAL,
    script,
    query: { tools: ['Bash'], ...(gate === 'a hook' ? {} : { canUseTool }) },
    ...(gate === 'a hook' ? { hooks } : {}),
    ...more,
  };
  const played = await playScene(
    { ...harness, run: (given) => playClaude({ ...scene, ...given }) },
    scene,
    standardSteering(),
  );
  expect(outcomesOf(played.records)).toEqual(['refused', 'refused', 'refused', 'refused']);
  expectToAsk(played.records);
});
