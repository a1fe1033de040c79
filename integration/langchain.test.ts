import { createDeepAgent } from 'deepagents';
import { createAgent, tool, toolStrategy } from 'langchain';
import { expect, test } from 'vitest';
import { z } from 'zod';

import { coxswainMiddleware } from '../src/adapters/langchain/index.ts';
import { payloadsOf } from '../test/support/adapter-contract/adapter-player.ts';
import { feedbackAfterEachCall } from '../test/support/adapter-contract/contract-advice.ts';
import type { ModelFunction, ModelScript } from '../src/testing/model-script.ts';
import { withOpenAi } from './adapter-scene.ts';
import { chatModel, handles } from './langchain.harness.ts';

const FEEDBACK = { feedback: [feedbackAfterEachCall()] };
const GO = { messages: [{ role: 'user' as const, content: 'Go.' }] };

const boom = tool(
  async () => {
    throw new Error('bang');
  },
  { name: 'boom', description: 'Fails.', schema: z.object({}) },
);

test('a tool that throws ends as in an agent without a middleware: the model reads the same message, and feedback after it', async () => {
  const script: ModelScript = { turns: [{ calls: [{ name: 'boom', args: {} }] }, { text: 'Done.' }] };
  const texts: unknown[] = [];
  for (const isSteered of [false, true]) {
    await withOpenAi(script, FEEDBACK, async ({ run, server, baseURL, records }) => {
      const middleware = isSteered ? [coxswainMiddleware(run, handles)] : [];
      const agent = createAgent({ model: chatModel(baseURL), tools: [boom], middleware });
      expect((await agent.invoke(GO)).messages.at(-1)?.text).toBe('Done.');
      texts.push(JSON.parse(server.requests[1]?.raw ?? '{}').messages.at(-1).content);
      if (!isSteered) return;
      expect(payloadsOf((await records()).own, 'tool_ended')).toMatchObject([{ result: 'bang', is_error: true }]);
    });
  }
  expect(texts).toEqual([
    'Error: bang\n Please fix your mistakes.',
    'Error: bang\n Please fix your mistakes.\n\n[Feedback - Contract]\n\nCOX-FEEDBACK-1.',
  ]);
});

test('a subagent of deepagents with the middleware is a child run with its own turns and calls', async () => {
  const script: ModelFunction = (request) => {
    const text = JSON.stringify(request);
    const answered = text.includes('"role":"tool"');
    if (text.includes('You dig.'))
      return answered ? { text: 'earth' } : { calls: [{ id: 'd', name: 'dig', args: {} }] };
    const args = { description: 'Dig.', subagent_type: 'digger' };
    return answered ? { text: 'Done.' } : { calls: [{ id: 't', name: 'task', args }] };
  };
  await withOpenAi(script, FEEDBACK, async ({ run, baseURL, records }) => {
    const middleware = coxswainMiddleware(run, handles);
    const dig = tool(async () => 'soil', { name: 'dig', description: 'Digs.', schema: z.object({}) });
    const digger = {
      name: 'digger',
      description: 'Digs.',
      systemPrompt: 'You dig.',
      tools: [dig],
      middleware: [middleware],
    };
    const agent = createDeepAgent({ model: chatModel(baseURL), middleware: [middleware], subagents: [digger] });
    const { messages } = await agent.invoke(GO);
    expect(messages.at(-1)?.text).toBe('Done.');
    const { own, below } = await records();
    expect(payloadsOf(own, 'tool_ended')).toMatchObject([{ tool_name: 'task', result: 'earth', is_error: false }]);
    expect(payloadsOf(own, 'turn_started').length).toBe(2);
    expect(below.length).toBe(1);
    const [child = []] = below;
    expect(child[0]).toMatchObject({ parent_run_id: run.id, depth: 1 });
    expect(payloadsOf(child, 'tool_ended')).toMatchObject([{ tool_name: 'dig', result: 'soil' }]);
    expect(payloadsOf(child, 'feedback_delivered')).toMatchObject([{ delivered: true, channel: 'tool-result' }]);
    expect(payloadsOf(child, 'run_ended')).toMatchObject([{ outcome: 'ended' }]);
  });
});

const look = tool(async () => 'quiet', { name: 'look', description: 'Looks.', schema: z.object({}) });

test('a structured response keeps its turn, its tokens and its call, and the advice stands once in the message', async () => {
  const rooms = toolStrategy(z.object({ rooms: z.number() }));
  const script: ModelScript = {
    turns: [
      { calls: [{ id: 'a', name: 'look', args: {} }] },
      { calls: [{ id: 'b', name: 'extract-1', args: { rooms: 3 } }] },
    ],
  };
  await withOpenAi(script, FEEDBACK, async ({ run, baseURL, records }) => {
    const middleware = [coxswainMiddleware(run, handles)];
    const agent = createAgent({ model: chatModel(baseURL), tools: [look], responseFormat: rooms, middleware });
    const { messages, structuredResponse } = await agent.invoke(GO);
    expect(structuredResponse).toEqual({ rooms: 3 });
    expect(JSON.stringify(messages).match(/COX-FEEDBACK-1/g)).toHaveLength(1);
    const { own } = await records();
    expect(payloadsOf(own, 'tool_ended').map(({ tool_name: name }) => name)).toEqual(['look', 'extract-1']);
    expect(payloadsOf(own, 'unrecognised')).toEqual([]);
    const usages = payloadsOf(own, 'message_appended').flatMap(({ message }) =>
      message.role === 'assistant' ? (message.usage?.input_tokens ?? []) : [],
    );
    expect(usages).toEqual([100, 100]);
    expect(payloadsOf(own, 'run_ended')).toMatchObject([{ outcome: 'ended' }]);
  });
});

test('an agent of a module serves one run after another, and says when its only run has ended', async () => {
  const script: ModelFunction = (_, index) =>
    index % 2 === 0 ? { calls: [{ id: 'a', name: 'look', args: {} }] } : { text: 'Done.' };
  await withOpenAi(script, FEEDBACK, async ({ run, baseURL, records, faults }) => {
    let current = run;
    const agents = [() => current, run].map((source) =>
      createAgent({ model: chatModel(baseURL), tools: [look], middleware: [coxswainMiddleware(source, handles)] }),
    );
    const [ofModule, ofRun] = agents;
    await ofModule?.invoke(GO);
    const second = run.child({ agentName: 'second' });
    current = second;
    await ofModule?.invoke(GO);
    await second.end();
    expect(second.analysis.calls).toBe(1);
    expect(payloadsOf((await records()).own, 'tool_ended')).toHaveLength(1);
    expect(faults()).toBe(0);
    await ofRun?.invoke(GO);
    expect(faults()).toBe(1);
  });
});
