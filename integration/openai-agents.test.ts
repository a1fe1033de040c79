import {
  Agent,
  applyPatchTool,
  handoff,
  MemorySession,
  OpenAIProvider,
  run as runAlone,
  Runner,
  RunState,
  setDefaultModelProvider,
  setTracingDisabled,
  shellTool,
  tool,
  webSearchTool,
  type MCPServer,
  type Tool,
} from '@openai/agents';
import { expect, test } from 'vitest';
import { z } from 'zod';

import { coxswainAgents } from '../src/adapters/openai-agents/index.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { payloadsOf } from '../test/support/adapter-contract/adapter-player.ts';
import {
  feedbackAfterEachCall,
  guidanceAlwaysAt,
  guidanceAt,
} from '../test/support/adapter-contract/contract-advice.ts';
import type { ModelCall, ModelFunction, ModelScript } from '../src/testing/model-script.ts';
import { withOpenAi } from './adapter-scene.ts';

setTracingDisabled(true);

type MCPContent = Awaited<ReturnType<MCPServer['callTool']>>;

const FEEDBACK = { feedback: [feedbackAfterEachCall()] };

function calls(...turns: readonly (readonly ModelCall[])[]): ModelScript {
  return { turns: [...turns.map((turn) => ({ calls: turn })), { text: 'Done.' }] };
}

function look(run: () => unknown = () => 'quiet') {
  return tool({ name: 'look', description: 'Looks.', parameters: z.object({}), execute: async () => run() });
}

function runnerAt(baseURL: string): Runner {
  return new Runner({ modelProvider: new OpenAIProvider({ baseURL, apiKey: 'none' }) });
}

function agentNames(records: readonly TrajectoryRecord[]): readonly string[] {
  return [
    ...payloadsOf(records, 'run_started').flatMap(({ identity }) => identity.agent_name ?? []),
    ...payloadsOf(records, 'run_identified').flatMap(({ agent_name: name }) => name ?? []),
  ];
}

test('a tool that throws is recorded as failed, by what the SDK tells the model then', async () => {
  await withOpenAi(calls([{ name: 'look', args: {} }]), FEEDBACK, async ({ run, server, baseURL, records }) => {
    const steering = coxswainAgents(run);
    const boom = look(() => {
      throw new Error('kaboom');
    });
    const agent = new Agent({ name: 'a', tools: steering.tools([boom]) });
    await steering.attach(runnerAt(baseURL)).run(agent, 'Go.');
    const { own } = await records();
    expect(payloadsOf(own, 'tool_ended')).toMatchObject([{ tool_call_id: 'call_1_1', is_error: true }]);
    expect(server.requests[1]?.raw).toContain('Please try again.\\n\\n[Feedback - Contract]');
  });
});

test('an agent that is handed over to has a child run with its own name', async () => {
  const script: ModelScript = {
    turns: [
      { calls: [{ name: 'transfer_to_helper', args: {} }] },
      { calls: [{ name: 'look', args: {} }] },
      { text: 'Done.' },
    ],
  };
  await withOpenAi(script, FEEDBACK, async ({ run, server, baseURL, records }) => {
    const steering = coxswainAgents(run);
    const helper = new Agent({ name: 'helper', tools: steering.tools([look()]) });
    const boss = new Agent({ name: 'boss', handoffs: [handoff(helper)] });
    const result = await steering.attach(runnerAt(baseURL)).run(boss, 'Go.');
    expect(result.finalOutput).toBe('Done.');
    expect(server.requests[2]?.raw).toContain('COX-FEEDBACK-1.');
    const { own, below } = await records();
    expect(agentNames(own)).toEqual(['boss']);
    expect(payloadsOf(own, 'tool_ended')).toMatchObject([
      { tool_name: 'transfer_to_helper', result: { assistant: 'helper' }, is_error: false },
    ]);
    expect(payloadsOf(own, 'turn_started').length).toBe(1);
    const [child = []] = below;
    expect(agentNames(child)).toEqual(['helper']);
    expect(child[0]).toMatchObject({ parent_run_id: run.id, depth: 1 });
    expect(payloadsOf(child, 'tool_ended')).toMatchObject([{ tool_name: 'look', result: 'quiet' }]);
    expect(payloadsOf(child, 'turn_started').length).toBe(2);
    expect([own, child].map((list) => payloadsOf(list, 'run_ended')[0]?.outcome)).toEqual(['ended', 'ended']);
  });
});

test('agents that are used as tools at the same time have a child run each', async () => {
  const seen: string[] = [];
  const script: ModelFunction = (request) => {
    const text = JSON.stringify(request);
    const who = text.includes('I am outer') ? 'outer' : text.includes('I am left') ? 'left' : 'right';
    seen.push(who);
    const turns = seen.filter((name) => name === who).length;
    if (who !== 'outer')
      return turns === 1 ? { calls: [{ id: `${who}-look`, name: 'look', args: {} }] } : { text: who };
    if (turns === 2) return { text: 'Done.' };
    return { calls: ['left', 'right'].map((name) => ({ id: name, name, args: { input: 'Look.' } })) };
  };
  await withOpenAi(script, FEEDBACK, async ({ run, server, baseURL, records }) => {
    const steering = coxswainAgents(run);
    const asTool = (name: string): Tool =>
      new Agent({ name, instructions: `I am ${name}`, tools: steering.tools([look()]) }).asTool({
        toolName: name,
        toolDescription: 'Looks.',
      });
    const tools = steering.tools([asTool('left'), asTool('right')]);
    const agent = new Agent({ name: 'outer', instructions: 'I am outer', tools });
    const result = await steering.attach(runnerAt(baseURL)).run(agent, 'Go.');
    expect(result.finalOutput).toBe('Done.');
    const { own, below } = await records();
    expect(payloadsOf(own, 'turn_started').length).toBe(2);
    const results = payloadsOf(own, 'tool_ended').map(
      ({ tool_name, result: text }) => `${tool_name}: ${JSON.stringify(text)}`,
    );
    expect(results.toSorted()).toEqual(['left: "left"', 'right: "right"']);
    expect(below.flatMap((list) => agentNames(list)).toSorted()).toEqual(['left', 'right']);
    for (const child of below) {
      expect(payloadsOf(child, 'tool_ended').map(({ tool_call_id }) => tool_call_id)).toEqual([
        `${agentNames(child)[0]}-look`,
      ]);
      expect(payloadsOf(child, 'turn_started').length).toBe(2);
      expect(payloadsOf(child, 'run_ended')).toMatchObject([{ outcome: 'ended' }]);
      expect(payloadsOf(child, 'feedback_delivered')).toMatchObject([{ delivered: true, channel: 'tool-result' }]);
    }
    // Their own results are not to be changed: what is said about them goes with the next request.
    const last = server.requests.at(-1)?.raw ?? '';
    expect(['COX-FEEDBACK-1.', 'COX-FEEDBACK-2.'].every((mark) => last.includes(mark))).toBe(true);
  });
});

test.each([
  ['of one run', false, false],
  ['of one run, streamed', false, true],
  ['of a run each', true, false],
  ['of a run each, streamed', true, true],
])('two runs at the same time on one runner are told apart: %s', async (_name, hasRunEach, stream) => {
  const script: ModelFunction = (request) => {
    const text = JSON.stringify(request);
    const name = text.includes('I am one') ? 'one' : 'two';
    return text.includes('function_call_output')
      ? { text: name }
      : { calls: [{ id: 'call_1', name: 'look', args: { of: name } }] };
  };
  await withOpenAi(script, {}, async ({ run, baseURL, records }) => {
    const other = hasRunEach ? run.child() : run;
    const runner = runnerAt(baseURL);
    const shared = coxswainAgents(run);
    await Promise.all(
      ['one', 'two'].map(async (name, index) => {
        const steering = hasRunEach && index === 1 ? coxswainAgents(other) : shared;
        const own = index === 0 || hasRunEach ? steering.attach(runner) : runner;
        const agent = new Agent({ name, instructions: `I am ${name}`, tools: steering.tools([look(() => name)]) });
        await Promise.resolve();
        if (stream) {
          const result = await own.run(agent, 'Go.', { stream: true });
          for await (const event of result) void event;
          await result.completed;
        } else await own.run(agent, 'Go.');
      }),
    );
    if (hasRunEach) await other.end();
    const { own, below } = await records();
    const [child, ...others] = below;
    expect(others).toEqual([]);
    for (const [list, name] of [[own, 'one'] as const, [child ?? [], 'two'] as const]) {
      expect(payloadsOf(list, 'tool_ended').map(({ result }) => result)).toEqual([name]);
      expect(payloadsOf(list, 'turn_started').length).toBe(2);
      expect(payloadsOf(list, 'run_ended')).toMatchObject([{ outcome: 'ended' }]);
    }
  });
});

test('a run that waits for an approval goes on from its saved state, within an agent used as a tool as well', async () => {
  const script: ModelScript = {
    turns: [
      { calls: [{ name: 'inner', args: { input: 'Look.' } }] },
      { calls: [{ name: 'look', args: {} }] },
      { text: 'It is quiet.' },
      { text: 'Done.' },
    ],
  };
  await withOpenAi(script, FEEDBACK, async ({ run, baseURL, records }) => {
    const steering = coxswainAgents(run);
    const innerTool = tool({
      name: 'look',
      description: 'Looks.',
      parameters: z.object({}),
      needsApproval: true,
      execute: async () => 'quiet',
    });
    const inner = new Agent({ name: 'inner', tools: steering.tools([innerTool]) });
    const tools = steering.tools([inner.asTool({ toolName: 'inner', toolDescription: 'Looks.' })]);
    const agent = new Agent({ name: 'outer', tools });
    const runner = steering.attach(runnerAt(baseURL));
    const paused = await runner.run(agent, 'Go.');
    expect(paused.interruptions.length).toBe(1);
    const state = await RunState.fromString(agent, paused.state.toString());
    for (const interruption of state.getInterruptions()) state.approve(interruption);
    const result = await runner.run(agent, state);
    expect(result.finalOutput).toBe('Done.');
    const { own, below } = await records();
    expect(payloadsOf(own, 'run_ended')).toMatchObject([{ outcome: 'ended' }]);
    // Calls before the inner agent calls its model again are recorded in the outer run.
    const looked = [own, ...below].flatMap((list) => payloadsOf(list, 'tool_ended'));
    const results = looked.map(({ tool_call_id, result: text }) => [tool_call_id, text]);
    expect(results).toEqual([
      ['call_1_1', ''],
      ['call_2_1', 'quiet'],
      ['call_1_1#2', 'It is quiet.'],
    ]);
  });
});

test('a session holds no guidance, although a filter’s words would stay in it', async () => {
  const guidance = [guidanceAlwaysAt('pre_tool_selection')];
  await withOpenAi(
    calls([{ name: 'look', args: {} }]),
    { guidance, noise: { cooldownCalls: 0 } },
    async ({ run, server, baseURL }) => {
      const steering = coxswainAgents(run);
      const session = new MemorySession();
      const agent = new Agent({ name: 'a', tools: steering.tools([look()]) });
      const runner = steering.attach(runnerAt(baseURL));
      await runner.run(agent, 'Go.', {
        session,
        callModelInputFilter: ({ modelData }) => ({
          ...modelData,
          input: [...modelData.input, { type: 'message', role: 'system', content: 'FILTERED' }],
        }),
      });
      expect(server.requests.map(({ raw }) => raw.includes('COX-GUIDANCE'))).toEqual([true, true]);
      const stored = JSON.stringify(await session.getItems());
      expect([stored.includes('COX-GUIDANCE'), stored.includes('FILTERED')]).toEqual([false, true]);
    },
  );
});

test('where the provider keeps the conversation, guidance goes into the instructions', async () => {
  const guidance = [guidanceAt('pre_tool_selection', () => true)];
  await withOpenAi({ turns: [{ text: 'Done.' }] }, { guidance }, async ({ run, server, baseURL, records }) => {
    const steering = coxswainAgents(run);
    const agent = new Agent({ name: 'a', instructions: 'Be kind.' });
    await steering.attach(runnerAt(baseURL)).run(agent, 'Go.', { previousResponseId: 'resp_before' });
    const [request] = server.requests;
    expect(request?.body['instructions']).toBe(
      'Be kind.\n\n[Guidance - Contract pre_tool_selection]\n\nCOX-GUIDANCE-pre_tool_selection. Think of it.',
    );
    expect(JSON.stringify(request?.body['input'])).not.toContain('COX-');
    const { own } = await records();
    expect(payloadsOf(own, 'guidance_delivered')).toMatchObject([{ guidance: { channel: 'instructions' } }]);
  });
});

test('a result that ends the run is the user’s: nothing is added to it', async () => {
  await withOpenAi(calls([{ name: 'look', args: {} }]), FEEDBACK, async ({ run, baseURL, records }) => {
    const steering = coxswainAgents(run);
    const tools = steering.tools([look()]);
    const agent = new Agent({ name: 'a', tools, toolUseBehavior: 'stop_on_first_tool' });
    const result = await steering.attach(runnerAt(baseURL)).run(agent, 'Go.');
    expect(result.finalOutput).toBe('quiet');
    const { own } = await records();
    expect(payloadsOf(own, 'feedback_delivered')).toMatchObject([{ delivered: false, reason: 'the run ended before' }]);
  });
});

test('tools that are not wrapped are recorded all the same, and their feedback goes with the next request only', async () => {
  const script = calls([{ name: 'look', args: {} }], [{ name: 'look', args: {} }]);
  await withOpenAi(script, FEEDBACK, async ({ run, server, baseURL, records }) => {
    const steering = coxswainAgents(run);
    const agent = new Agent({ name: 'a', tools: [look()] });
    const result = await steering.attach(runnerAt(baseURL)).run(agent, 'Go.');
    const times = server.requests.map(({ raw }) => raw.split('COX-FEEDBACK-1.').length - 1);
    expect(times).toEqual([0, 1, 0]);
    expect(JSON.stringify(result.history)).not.toContain('COX-');
    const { own } = await records();
    expect(payloadsOf(own, 'tool_ended').map(({ tool_call_id }) => tool_call_id)).toEqual(['call_1_1', 'call_2_1']);
    expect(payloadsOf(own, 'feedback_delivered')).toMatchObject([{ channel: 'request' }, { channel: 'request' }]);
  });
});

test('arguments that are no JSON are a failed call, of which no listener is told', async () => {
  const broken = { name: 'look', args: 'not an object' };
  await withOpenAi(calls([broken]), FEEDBACK, async ({ run, server, baseURL, records }) => {
    const steering = coxswainAgents(run);
    const agent = new Agent({ name: 'a', tools: steering.tools([look()]) });
    const result = await steering.attach(runnerAt(baseURL)).run(agent, 'Go.');
    expect(result.finalOutput).toBe('Done.');
    expect(server.requests[1]?.raw).toContain('COX-FEEDBACK-1.');
    const { own } = await records();
    expect(payloadsOf(own, 'tool_ended')).toMatchObject([{ tool_call_id: 'call_1_1', is_error: true }]);
  });
});

test('a run that reaches its most turns ends with that reason, followed or not, streamed or not', async () => {
  const script: ModelScript['turns'] = Array.from({ length: 5 }, () => ({ calls: [{ name: 'look', args: {} }] }));
  for (const how of ['followed', 'plain', 'streamed']) {
    await withOpenAi({ turns: script }, {}, async ({ run, baseURL, records }) => {
      const steering = coxswainAgents(run);
      const agent = new Agent({ name: 'a', tools: steering.tools([look()]) });
      const runner = steering.attach(runnerAt(baseURL));
      const work = async (): Promise<unknown> => {
        if (how !== 'streamed') return await runner.run(agent, 'Go.', { maxTurns: 2 });
        const result = await runner.run(agent, 'Go.', { maxTurns: 2, stream: true });
        return await result.completed;
      };
      await expect(how === 'followed' ? steering.follow(work()) : work()).rejects.toThrow('Max turns');
      const { own } = await records();
      expect(payloadsOf(own, 'run_ended')).toMatchObject([{ outcome: 'limit', reason: 'turn_limit' }]);
    });
  }
});

test('the run() of the package is not seen, and a fault says what to do', async () => {
  await withOpenAi(calls([{ name: 'look', args: {} }]), {}, async ({ run: coxRun, baseURL, records }) => {
    setDefaultModelProvider(new OpenAIProvider({ baseURL, apiKey: 'none' }));
    const steering = coxswainAgents(coxRun);
    await runAlone(new Agent({ name: 'a', tools: steering.tools([look()]) }), 'Go.');
    const faults = payloadsOf((await records()).own, 'fault_noticed');
    expect(faults.map(({ message }) => message)).toEqual([expect.stringContaining('steering.attach(new Runner())')]);
  });
});

test('a tool of an MCP server that says isError is a failed call, also beside one that works', async () => {
  const content = (text: string, isError: boolean): MCPContent =>
    Object.defineProperty([{ type: 'text' as const, text }], 'isError', { value: isError });
  const server: MCPServer = {
    name: 'files',
    cacheToolsList: false,
    connect: async () => undefined,
    close: async () => undefined,
    invalidateToolsCache: async () => undefined,
    listTools: async () =>
      ['good', 'bad'].map((name) => ({
        name,
        inputSchema: { type: 'object' as const, properties: {}, required: [], additionalProperties: false },
      })),
    callTool: async (name) => content(`${name} result`, name === 'bad'),
  };
  const both = ['good', 'bad'].map((name) => ({ name, args: {} }));
  await withOpenAi(calls(both), {}, async ({ run, baseURL, records }) => {
    const steering = coxswainAgents(run);
    await steering.attach(runnerAt(baseURL)).run(new Agent({ name: 'a', mcpServers: [server] }), 'Go.');
    const ended = payloadsOf((await records()).own, 'tool_ended').map((call) => [call.tool_name, call.is_error]);
    expect(Object.fromEntries(ended)).toEqual({ good: false, bad: true });
  });
});

test('a shell’s exit code and a patch that failed make failed calls, and a hosted search is a call', async () => {
  const items = [
    { type: 'web_search_call', id: 'ws', status: 'completed', action: { type: 'search', query: 'tides' } },
    { type: 'shell_call', id: 'x', call_id: 'sh', status: 'completed', action: { commands: ['npm test'] } },
    {
      type: 'apply_patch_call',
      id: 'y',
      call_id: 'ap',
      status: 'completed',
      operation: { type: 'delete_file', path: 'a.ts' },
    },
  ];
  const failed = async (): Promise<{ readonly status: 'failed'; readonly output: string }> => ({
    status: 'failed',
    output: 'no such file',
  });
  await withOpenAi({ turns: [{ items }, { text: 'Done.' }] }, FEEDBACK, async ({ run, server, baseURL, records }) => {
    const steering = coxswainAgents(run);
    const end = { type: 'exit' as const, exitCode: 1 };
    const shell = { run: async () => ({ output: [{ stdout: '', stderr: 'no test', outcome: end }] }) };
    const editor = { createFile: failed, updateFile: failed, deleteFile: failed };
    const tools = [shellTool({ shell }), applyPatchTool({ editor }), webSearchTool()];
    const agent = new Agent({ name: 'a', tools: steering.tools(tools) });
    await steering.attach(runnerAt(baseURL)).run(agent, 'Go.');
    expect(server.requests[1]?.raw).toContain('COX-FEEDBACK-3.');
    const { own } = await records();
    expect(payloadsOf(own, 'tool_ended').map((call) => [call.tool_name, call.result, call.is_error])).toEqual([
      ['web_search', 'completed', false],
      ['shell', 'no test\nexit code 1', true],
      ['apply_patch', 'no such file', true],
    ]);
    expect(payloadsOf(own, 'tool_started')[0]?.args).toEqual({ type: 'search', query: 'tides' });
  });
});

test('a model of the user’s own is steered when it is given through `model`, and pointed at when it is not', async () => {
  const guidance = [guidanceAt('pre_tool_selection', () => true)];
  for (const isWrapped of [true, false]) {
    await withOpenAi({ turns: [{ text: 'Done.' }] }, { guidance }, async ({ run, server, baseURL, records }) => {
      const own = await new OpenAIProvider({ baseURL, apiKey: 'none' }).getModel('gpt-5');
      const steering = coxswainAgents(run);
      const agent = new Agent({ name: 'a', model: isWrapped ? steering.model(own) : own });
      await steering.attach(new Runner()).run(agent, 'Go.');
      expect(server.requests[0]?.raw.includes('COX-GUIDANCE')).toBe(isWrapped);
      const faults = payloadsOf((await records()).own, 'fault_noticed');
      expect(faults.map(({ message }) => message)).toEqual(
        isWrapped ? [] : ['requests of agent "a" are not seen: give it model: steering.model(yourModel)'],
      );
    });
  }
});

test('results that have parts or a schema stay what they are', async () => {
  const script = calls([
    { name: 'draw', args: {} },
    { name: 'count', args: {} },
  ]);
  await withOpenAi(script, FEEDBACK, async ({ run, server, baseURL, records }) => {
    const steering = coxswainAgents(run);
    const draw = tool({
      name: 'draw',
      description: 'Draws.',
      parameters: z.object({}),
      execute: async () => ({ type: 'image' as const, image: 'data:image/png;base64,AA' }),
    });
    const count = tool({
      name: 'count',
      description: 'Counts.',
      parameters: z.object({}),
      outputSchema: z.object({ count: z.number() }),
      execute: async () => ({ count: 3 }),
    });
    const agent = new Agent({ name: 'a', tools: steering.tools([draw, count]) });
    await steering.attach(runnerAt(baseURL)).run(agent, 'Go.');
    const { input } = JSON.parse(server.requests[1]?.raw ?? '{}');
    const outputs = input.filter((item: { type: string }) => item.type === 'function_call_output');
    expect(outputs[0].output.map((part: { type: string }) => part.type)).toEqual(['input_image', 'input_text']);
    expect(outputs[1].output).toBe('{"count":3}');
    expect(input.at(-1).content).toContain('COX-FEEDBACK-2.');
    const { own } = await records();
    expect(payloadsOf(own, 'feedback_delivered').map(({ channel }) => channel)).toEqual(['tool-result', 'request']);
  });
});

test('the agent can answer advice with the acknowledge tool', async () => {
  const answer = { provider: 'Contract', response: 'rejected', note: 'It is quiet.' };
  const script = calls([{ name: 'look', args: {} }], [{ name: 'acknowledge_advice', args: answer }]);
  await withOpenAi(script, FEEDBACK, async ({ run, baseURL, records }) => {
    const steering = coxswainAgents(run);
    const tools: Tool[] = [...steering.tools([look()]), steering.acknowledgeTool()];
    await steering.attach(runnerAt(baseURL)).run(new Agent({ name: 'a', tools }), 'Go.');
    const { own } = await records();
    expect(payloadsOf(own, 'advice_acknowledged')).toMatchObject([{ provider_name: 'Contract', response: 'rejected' }]);
    expect(payloadsOf(own, 'tool_ended').map(({ result }) => result)).toEqual(['quiet', 'Noted.']);
  });
});

test('the types of tools, models and runners come through as they were', async () => {
  await withOpenAi({ turns: [] }, {}, async ({ run }) => {
    const steering = coxswainAgents(run);
    const own = look();
    const wrapped: typeof own = steering.tool(own);
    const runner: Runner = steering.attach(new Runner());
    expect([wrapped.name, wrapped.parameters, runner instanceof Runner]).toEqual(['look', own.parameters, true]);
  });
});
