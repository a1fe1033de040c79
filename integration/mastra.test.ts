import { Agent, type AgentConfig } from '@mastra/core/agent';
import { expect, test } from 'vitest';

import { coxswainMastra } from '../src/adapters/mastra/index.ts';
import type { ModelFunction, ModelScript } from '../src/testing/model-script.ts';
import { payloadsOf } from '../test/support/adapter-contract/adapter-player.ts';
import { feedbackAfterEachCall } from '../test/support/adapter-contract/contract-advice.ts';
import { scriptedToolbox } from '../test/support/adapter-contract/scripted-toolbox.ts';
import { withOpenAi } from './adapter-scene.ts';
import { modelAt, toolsOf } from './mastra.harness.ts';

const FEEDBACK = { feedback: [feedbackAfterEachCall()] };
const LOOK: ModelScript = { turns: [{ calls: [{ name: 'look', args: { at: 1 } }] }, { text: 'Done.' }] };

function config(baseURL: string, more: Partial<AgentConfig> = {}): AgentConfig {
  const tools = toolsOf(scriptedToolbox({ look: () => 'seen' }));
  return {
    id: 'a',
    name: 'A',
    description: 'Looks.',
    instructions: 'You look.',
    model: modelAt(baseURL),
    tools,
    ...more,
  };
}

test('an agent of `agents` that is wrapped too has a child run with its own turns and calls', async () => {
  const script: ModelFunction = (request) => {
    const text = JSON.stringify(request);
    const answered = text.includes('"role":"tool"');
    if (text.includes('You dig.'))
      return answered ? { text: 'earth' } : { calls: [{ id: 'd', name: 'look', args: {} }] };
    return answered ? { text: 'Done.' } : { calls: [{ id: 't', name: 'agent-digger', args: { prompt: 'Dig.' } }] };
  };
  await withOpenAi(script, FEEDBACK, async ({ run, baseURL, records, faults }) => {
    const cox = coxswainMastra(run);
    const digger = new Agent(cox.wrap(config(baseURL, { id: 'digger', instructions: 'You dig.' })));
    const agent = new Agent(cox.wrap(config(baseURL, { agents: { digger } })));
    expect((await agent.generate('Go.', { maxSteps: 5 })).text).toBe('Done.');
    const { own, below } = await records();
    expect(payloadsOf(own, 'tool_ended').map(({ tool_name }) => tool_name)).toEqual(['agent-digger']);
    expect(below.map((child) => payloadsOf(child, 'tool_ended').map(({ tool_name }) => tool_name))).toEqual([['look']]);
    expect(faults()).toBe(0);
  });
});

test('hooks of a single call replace the watching ones, and its calls are read from the next request', async () => {
  await withOpenAi(LOOK, FEEDBACK, async ({ run, server, baseURL, records }) => {
    const agent = new Agent(coxswainMastra(run).wrap(config(baseURL)));
    const hooks = { beforeToolCall: () => undefined, afterToolCall: () => undefined };
    await agent.generate('Go.', { maxSteps: 5, hooks });
    expect(payloadsOf((await records()).own, 'tool_ended')).toMatchObject([{ result: 'seen', is_error: false }]);
    expect(server.requests[1]?.raw).toContain('COX-FEEDBACK-1');
  });
});

test('hooks and processors of the user stay, also those that a function gives', async () => {
  await withOpenAi(LOOK, FEEDBACK, async ({ run, baseURL, records }) => {
    const seen: string[] = [];
    const own = {
      id: 'own',
      processLLMRequest: () => {
        seen.push('request');
      },
    };
    const hooks = {
      beforeToolCall: async () => {
        seen.push('before');
      },
      afterToolCall: () => {
        seen.push('after');
      },
    };
    const agent = new Agent(coxswainMastra(run).wrap(config(baseURL, { hooks, inputProcessors: () => [own] })));
    await agent.generate('Go.', { maxSteps: 5 });
    expect(seen).toEqual(['request', 'before', 'after', 'request']);
    expect(payloadsOf((await records()).own, 'tool_ended')).toHaveLength(1);
  });
});

test('a second agent that works in the run at the same time has a child run, and no advice of the other', async () => {
  const script: ModelFunction = (request) =>
    JSON.stringify(request).includes('"role":"tool"')
      ? { text: 'Done.' }
      : { calls: [{ id: 'c', name: 'look', args: {} }] };
  await withOpenAi(script, FEEDBACK, async ({ run, server, baseURL, records, faults }) => {
    const agent = new Agent(coxswainMastra(run).wrap(config(baseURL)));
    await Promise.all(['One.', 'Two.'].map(async (prompt) => await agent.generate(prompt, { maxSteps: 5 })));
    const { own, below } = await records();
    expect([own, ...below].map((each) => payloadsOf(each, 'tool_ended').length)).toEqual([1, 1]);
    const advised = server.requests.map(({ raw }) => raw.split('COX-FEEDBACK').length - 1);
    expect(advised.toSorted((a, b) => a - b)).toEqual([0, 0, 1, 1]);
    expect(faults()).toBe(0);
  });
});
