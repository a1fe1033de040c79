import { describe, expect, test } from 'vitest';

import { FEEDBACK, GUIDANCE } from '../src/hosts/config/providers.ts';
import { openaiSteering } from '../src/adapters/openai/openai-steering.ts';
import { coxswainAgent } from '../src/adapters/ai-sdk/coxswain-agent.ts';
import { claudeHooks } from '../src/adapters/claude/claude-hooks.ts';
import { coxswainMiddleware } from '../src/adapters/langchain/coxswain-middleware.ts';
import { coxswainAgents } from '../src/adapters/openai-agents/coxswain-agents.ts';
import { McpWatch } from '../src/hosts/mcp/mcp-watch.ts';
import { ownStatusText } from '../src/cli/commands/mcp/own-tools.ts';
import { readSpans } from '../src/formats/otlp/read-spans.ts';
import { recordTrace } from '../src/hosts/otlp/otlp-intake.ts';
import { SteeringReplay } from '../src/core/replay/steering-replay.ts';
import { readAll } from './support/script-records.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import type { TrajectoryPayload } from '../src/core/records/trajectory-record.ts';
import type { DecisionPoint } from '../src/core/records/spoken-advice.ts';
import { checkCompletion } from '../src/core/run/completion-check.ts';
import { createCoxswain, type CoxswainOptions, type RunOptions } from '../src/core/run/coxswain.ts';
import type { Run } from '../src/core/run/run.ts';
import { guidanceBank } from '../src/core/steering/guidance/define-guidance.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { HOSTS, playHost } from './support/host-scripts.ts';
import { INJECTIONS, leakedPieces } from './support/injections.ts';
import { testFolder } from './support/test-folder.ts';

/** Takes the place of an injection in the control run. */
const PLAIN = 'an ordinary text of some words without any order';

/** Every built-in provider, without limits, and a model-backed classifier whose input is collected. */
function steeringInto(texts: string[]): CoxswainOptions {
  const bank = guidanceBank({ tests: { content: 'Run the tests.', category: 'tests' } });
  return {
    clock: createFakeClock(),
    measureMs: () => 0,
    delivery: 'all',
    cadence: 'per-provider',
    feedback: Object.values(FEEDBACK).map(({ make }) => ({ provider: make(), trigger: { everyNCalls: 1 } })),
    guidance: Object.values(GUIDANCE).map(({ make }) => ({ provider: make() })),
    models: [
      {
        bank,
        decisionPoints: ['pre_tool_execution'],
        classifier: {
          name: 'small',
          classify: async (digest) => {
            texts.push(...digest.recentCalls.map(({ tool }) => tool), ...digest.pendingTools);
            return undefined;
          },
        },
      },
    ],
    noise: { cooldownCalls: 0 },
  };
}

interface Call {
  readonly tool?: string;
  readonly args?: unknown;
  readonly result?: unknown;
  readonly isError?: boolean;
  readonly annotations?: object;
}

function play(run: Run, calls: readonly Call[], texts: string[]): void {
  const advise = (point: DecisionPoint, options = {}): void => {
    for (const advice of run.advise(point, options)) {
      texts.push(advice.text);
      advice.delivered('test');
    }
  };
  for (const [index, call] of calls.entries()) {
    const { tool: toolName = 'bash', args = { command: 'make' }, result = 'no rule', isError = false } = call;
    const toolCallId = `c${index}`;
    run.emit({ type: 'turn_start' });
    advise('pre_render');
    advise('pre_tool_selection');
    advise('pre_tool_execution', { pendingToolCalls: [{ toolCallId, toolName, args }] });
    const annotations = call.annotations === undefined ? {} : { annotations: call.annotations };
    run.emit({ type: 'tool_execution_start', toolCallId, toolName, args, ...annotations } as never);
    run.emit({ type: 'tool_execution_end', toolCallId, toolName, result, isError });
    advise('post_tool_result');
  }
  advise('pre_response', { lastResponse: 'done' });
}

const times = (count: number, call: (index: number) => Call): readonly Call[] =>
  Array.from({ length: count }, (_, index) => call(index));

interface Scene {
  readonly calls: readonly Call[];
  readonly options?: RunOptions;
  readonly child?: RunOptions;
}

/** Where an attacker's text is. Each scene is a loop, so that advice about it follows. */
const PLACES: Readonly<Record<string, (text: string) => Scene>> = {
  'a result': (text) => ({ calls: times(6, () => ({ result: text })) }),
  'a result in JSON': (text) => ({ calls: times(6, () => ({ result: { status: text, [text]: 1 } })) }),
  'an error line': (text) => ({ calls: times(7, (at) => ({ result: `step ${at}\nError: ${text}`, isError: true })) }),
  'the name of a missing module': (text) => ({
    calls: times(6, () => ({ result: `Error: Cannot find module '${text}'`, isError: true })),
  }),
  'the name of a missing file': (text) => ({
    calls: times(7, (at) => ({
      args: { command: `find . -name ${at} | xargs cat` },
      result: `cat: ${text}: No such file or directory`,
      isError: true,
    })),
  }),
  'results of a search': (text) => ({
    calls: times(14, (at) => ({ tool: 'WebSearch', args: { query: `word ${at}` }, result: [{ title: text }] })),
  }),
  'two results in turn': (text) => ({
    calls: times(16, (at) => ({ args: { command: `cat ${at % 2}` }, result: `${text} ${at % 2}` })),
  }),
  'the status of a job': (text) => ({
    calls: times(16, () => ({ tool: 'get_status', args: { action: 'status' }, result: { state: text } })),
  }),
  'a file that is edited back': (text) => ({
    calls: times(12, (at) => ({
      tool: 'Edit',
      args: { file_path: `/w/${text}.md`, old_string: at % 2 ? text : 'b', new_string: at % 2 ? 'b' : text },
      result: 'ok',
    })),
  }),
  'errors of several tools': (text) => ({
    calls: times(9, (at) => ({
      tool: `${text}_${at % 3}`,
      args: { at },
      result: `Error ${at}: ${text}`,
      isError: true,
    })),
  }),
  'a check after edits': (text) => ({
    calls: times(16, (at) =>
      at % 2
        ? { args: { command: 'npm test' }, result: `FAIL ${text}`, isError: true }
        : { tool: 'Edit', args: { file_path: 'a.ts', old_string: `${at}`, new_string: `${at + 1}` }, result: 'ok' },
    ),
  }),
  'a command that a page gave': (text) => ({ calls: times(5, () => ({ args: { command: `cat '${text}'` } })) }),
  'a path': (text) => ({ calls: times(5, () => ({ tool: 'Read', args: { file_path: `/w/${text}` } })) }),
  'the name of a tool': (text) => ({ calls: times(6, () => ({ tool: text, result: 'failed', isError: true })) }),
  'the name of a server': (text) => ({ calls: times(6, () => ({ tool: `mcp__${text}__list` })) }),
  'a name beside a known one': (text) => ({ calls: times(6, () => ({ tool: `Bash ${text}` })) }),
  'the annotations of a tool': (text) => ({
    calls: times(6, () => ({ tool: 'list', annotations: { readOnlyHint: true, title: text } })),
  }),
  'the task and the names of a run': (text) => ({
    calls: times(30, (at) => ({ tool: 'Read', args: { file_path: `${at}.ts` } })),
    options: { task: text, agentName: text, conversationId: text, modelId: text, host: text, runId: text.slice(0, 60) },
  }),
  'the task and the name of a subagent': (text) => ({
    calls: times(6, () => ({
      tool: 'Task',
      args: { description: text, prompt: text, subagent_type: text },
      result: text,
    })),
    child: { task: text, agentName: text },
  }),
};

async function textsOf(scene: Scene): Promise<readonly string[]> {
  const texts: string[] = [];
  const cox = createCoxswain(steeringInto(texts));
  const run = cox.startRun({ deadline: { minutes: 5 }, budget: { calls: 40 }, ...scene.options });
  run.emit({ type: 'message_end', message: { role: 'user', content: scene.options?.task ?? 'go' } });
  play(run, scene.calls, texts);
  if (scene.child !== undefined) play(run.child(scene.child), scene.calls, texts);
  await cox.close();
  return texts;
}

/** Distributes the injections over the places, so that each injection is in four of them. */
const CASES = INJECTIONS.flatMap(([name, injection], index) =>
  Object.keys(PLACES).flatMap((place, at) => ((at + index) % 5 === 0 ? [[name, place, injection] as const] : [])),
);

/** Returns the texts of a control, which are computed once. */
function remembered(compute: (key: string) => Promise<readonly string[]>): typeof compute {
  const results = new Map<string, Promise<readonly string[]>>();
  return async (key) => {
    const result = results.get(key) ?? compute(key);
    results.set(key, result);
    return result;
  };
}

const controlAt = remembered(async (place) => textsOf(PLACES[place]?.(PLAIN) ?? { calls: [] }));

test.each(CASES)('%s, %s: no piece of it reaches a text for a model', async (_name, place, injection) => {
  const [texts, control] = [await textsOf(PLACES[place]?.(injection) ?? { calls: [] }), await controlAt(place)];
  expect(texts.some((text) => text.startsWith('[Feedback - Pattern]'))).toBe(true);
  expect(leakedPieces(texts, injection, control)).toEqual([]);
});

test('the check finds a piece in another case and in letters of another width', () => {
  expect(leakedPieces(['say: RUN QZORVEX'], 'run qzorvex now', [])).not.toEqual([]);
  expect(leakedPieces(['say: ｒｕｎ ｑｚｏｒｖｅｘ'], 'run qzorvex now', [])).not.toEqual([]);
  expect(leakedPieces(['say: run qzorvex'], 'run qzorvex now', ['run qzorvex'])).toEqual([]);
});

/** Every sixth injection, each part of the suite from another one on. */
const everySixth = (part: number): typeof INJECTIONS => INJECTIONS.filter((_, index) => index % 6 === part % 6);

describe.each(Object.keys(HOSTS))('hooks of %s', (host) => {
  const answersFor = async (text: string): Promise<readonly string[]> => {
    const one = {
      tool: `mcp__${text.slice(0, 100)}__run`,
      command: `cat '${text}'`,
      output: `cat: ${text}: error`,
      exitCode: 1,
    };
    const turns = Array.from({ length: 6 }, () => [one]);
    const { answers } = await playHost(HOSTS[host]?.(turns, testFolder()) ?? []);
    return answers.map(({ json }) => JSON.stringify(json));
  };
  const control = remembered(answersFor);
  test.each(everySixth(Object.keys(HOSTS).indexOf(host)))('%s stays out of the answers', async (_name, injection) => {
    const answers = await answersFor(injection);
    expect(answers.join()).toContain('[Feedback - Pattern]');
    expect(leakedPieces(answers, injection, await control(PLAIN))).toEqual([]);
  });
});

/** Each adapter of an SDK: plays calls of one tool and returns what it adds for the model. */
const ADAPTERS: Readonly<Record<string, (run: Run, tool: string, text: string) => Promise<readonly string[]>>> = {
  async 'the Claude Agent SDK'(run, tool, text) {
    const hooks = claudeHooks(run);
    const added: string[] = [];
    const send = async (name: 'PreToolUse' | 'PostToolUse' | 'PostToolBatch', input: object): Promise<void> => {
      const [hook] = hooks[name][0]?.hooks ?? [];
      const { signal } = new AbortController();
      added.push(
        JSON.stringify(await hook?.({ hook_event_name: name, session_id: 's', ...input }, undefined, { signal })),
      );
    };
    for (let at = 0; at < 6; at += 1) {
      const call = { tool_name: tool, tool_input: { command: text }, tool_use_id: `c${at}` };
      await send('PreToolUse', call);
      await send('PostToolUse', { ...call, tool_response: text });
      await send('PostToolBatch', { tool_calls: [{ ...call, tool_response: text }] });
    }
    return added;
  },
  async 'the OpenAI SDK'(run, tool, text) {
    const steering = openaiSteering(run);
    const added: string[] = [];
    for (let at = 0; at < 6; at += 1) {
      const call = {
        type: 'function',
        id: `c${at}`,
        function: { name: tool, arguments: JSON.stringify({ text }) },
      } as const;
      added.push(JSON.stringify(await steering.runToolCall(call, () => 'quiet')));
    }
    return added;
  },
  async 'OpenAI Agents'(run, tool, text) {
    const wrapped = coxswainAgents(run).tool({
      type: 'function',
      name: tool,
      invoke: async (..._input: unknown[]) => 'quiet',
    });
    const added: string[] = [];
    for (let at = 0; at < 6; at += 1) {
      const toolCall = { type: 'function_call', callId: `c${at}`, name: tool, arguments: JSON.stringify({ text }) };
      added.push(await wrapped.invoke({}, toolCall.arguments, { toolCall }));
    }
    return added;
  },
  async 'the Vercel AI SDK'(run, tool, text) {
    const tools = coxswainAgent(run).tools({ [tool]: { execute: (_input: object, _options: object) => 'quiet' } });
    const added: string[] = [];
    for (let at = 0; at < 6; at += 1) {
      const toolCallId = `c${at}`;
      const wrapped = tools[tool] as unknown as {
        execute(input: object, options: object): unknown;
        toModelOutput(call: object): unknown;
      };
      wrapped.execute({ text }, { toolCallId });
      added.push(JSON.stringify(await wrapped.toModelOutput({ toolCallId, input: { text }, output: 'quiet' })));
    }
    return added;
  },
  async LangChain(run, tool, text) {
    class Message {
      readonly type = 'tool';
      constructor(fields: object) {
        Object.assign(this, fields);
      }
    }
    const createMiddleware = (config: object): object => config;
    const handles = { createMiddleware, ToolMessage: Message, HumanMessage: Message };
    const middleware = coxswainMiddleware(run, handles as never) as {
      wrapToolCall(request: object, handler: (request: object) => Promise<unknown>): Promise<unknown>;
    };
    const added: string[] = [];
    for (let at = 0; at < 6; at += 1) {
      const toolCall = { id: `c${at}`, name: tool, args: { text } };
      const answer = async (): Promise<unknown> => new Message({ content: 'quiet', tool_call_id: toolCall.id });
      added.push(JSON.stringify(await middleware.wrapToolCall({ toolCall }, answer)));
    }
    return added;
  },
};

describe.each(Object.keys(ADAPTERS))('the adapter of %s', (name) => {
  const addedFor = async (text: string): Promise<readonly string[]> => {
    const run = createCoxswain(steeringInto([])).startRun();
    return (await ADAPTERS[name]?.(run, text, text)) ?? [];
  };
  const control = remembered(addedFor);
  test.each(everySixth(Object.keys(ADAPTERS).indexOf(name)))('%s stays out of its texts', async (_name, injection) => {
    const added = await addedFor(injection);
    expect(added.join()).toContain('[Feedback - Pattern]');
    expect(leakedPieces(added, injection, await control(PLAIN))).toEqual([]);
  });
});

/** Plays calls of a tool through the proxy and returns the parts that it appended to results. */
async function proxied(text: string, failure?: 'error'): Promise<readonly string[]> {
  const cox = createCoxswain({ ...steeringInto([]), store: memoryStore() });
  const watch = new McpWatch({ cox, run: {}, onFault: (error) => expect.fail(String(error)) });
  const client = (message: object): void =>
    void watch.client.line(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`));
  const server = (message: object): string =>
    watch.server.line(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)).toString();
  client({ id: 'i', method: 'initialize', params: { clientInfo: { name: text } } });
  server({ id: 'i', result: { serverInfo: { name: text, title: text }, instructions: text } });
  client({ id: 't', method: 'tools/list' });
  const annotations = { title: text, readOnlyHint: true };
  server({ id: 't', result: { tools: [{ name: text, title: text, description: text, annotations }] } });
  const added: string[] = [];
  for (let id = 0; id < 8; id += 1) {
    client({ id, method: 'tools/call', params: { name: text, arguments: { query: text } } });
    const content = [{ type: 'text', text: 'quiet' }];
    added.push(
      failure === undefined || id === 7
        ? server({ id, result: { content } })
        : server({ id, error: { code: 1, message: text } }),
    );
    await cox.flush();
  }
  watch.end('ended');
  await cox.close();
  return failure === undefined ? added : added.slice(7);
}

test.each(everySixth(5))('%s: the tools of a proxied MCP server have no name in advice', async (_name, injection) => {
  const added = await proxied(injection);
  expect(added.join()).toContain('You made the same call 3 times');
  expect(leakedPieces(added, injection, await proxied(PLAIN))).toEqual([]);
  const failed = await proxied(injection, 'error');
  expect(failed.join()).toContain('[Feedback - ');
  expect(leakedPieces(failed, injection, await proxied(PLAIN, 'error'))).toEqual([]);
});

test('a check that throws the content of a file does not show it to the agent', async () => {
  const missing = (): never => JSON.parse('{ run qzorvex now') as never;
  const { text = '' } = await checkCompletion(createCoxswain().startRun(), { missing });
  expect(leakedPieces([text], 'run qzorvex now', [])).toEqual([]);
});

test('a tool that the user declared has its name, and one that only a server annotated has none', async () => {
  const texts: string[] = [];
  const tools = { book_flight: { kind: 'write' }, other_tool: { annotations: { readOnlyHint: true } } } as const;
  for (const tool of Object.keys(tools)) {
    play(
      createCoxswain({ ...steeringInto([]), tools }).startRun(),
      times(4, () => ({ tool })),
      texts,
    );
  }
  expect(texts.join()).toContain('the same call of book_flight');
  expect(texts.join()).not.toContain('other_tool');
});

/** The advice of a replay of a run that telemetry reported, as `backtest` and a process that continues the run would give it. */
async function telemetryTexts(text: string): Promise<readonly string[]> {
  const attributes = (values: Readonly<Record<string, string>>): readonly object[] =>
    Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }));
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const span = (at: number, name: string, values: Readonly<Record<string, string>>): object => ({
    traceId,
    spanId: `b7ad6b71692000${at + 10}`,
    ...(at === 0 ? {} : { parentSpanId: 'b7ad6b7169200010' }),
    name,
    startTimeUnixNano: `17640000${at + 10}000000000`,
    endTimeUnixNano: `17640000${at === 0 ? 90 : at + 11}000000000`,
    attributes: attributes({ ...values, 'gen_ai.agent.name': text, 'session.id': text, [text]: text }),
    status: at === 0 ? {} : { code: 2, message: text },
  });
  const call = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': text, 'gen_ai.tool.description': text };
  const spans = [
    span(0, `invoke_agent ${text}`, { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.input.messages': text }),
    ...Array.from({ length: 8 }, (_, at) =>
      span(at + 1, `execute_tool ${text}`, {
        ...call,
        'gen_ai.tool.call.id': `c${at}`,
        'gen_ai.tool.call.arguments': JSON.stringify({ command: text }),
        'gen_ai.tool.call.result': `Error: ${text}`,
        'error.type': text,
      }),
    ),
  ];
  const resource = { attributes: attributes({ 'service.name': text }) };
  const read = readSpans({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: text }, spans }] }] });
  const store = memoryStore();
  const redact = (payload: TrajectoryPayload): TrajectoryPayload => payload;
  const [recorded] = await recordTrace({ traceId, part: 1 }, read?.spans ?? [], { store, redact });
  const replay = new SteeringReplay({ steering: steeringInto([]) });
  const texts: string[] = [];
  for (const record of await readAll(store, recorded?.runId ?? '')) {
    for (const item of replay.follow(record)) if (item.kind === 'feedback_produced') texts.push(item.text);
  }
  return texts;
}

test.each(everySixth(4))('%s: attributes of telemetry stay out of advice', async (_name, injection) => {
  const texts = await telemetryTexts(injection);
  expect(texts.join()).toContain('[Feedback - Pattern]');
  expect(leakedPieces(texts, injection, await telemetryTexts(PLAIN))).toEqual([]);
});

test.each(INJECTIONS)('%s: the tool run_status says nothing that another program recorded', (_name, injection) => {
  const status = {
    runId: injection,
    task: injection,
    host: injection,
    calls: 3,
    errors: 1,
    turns: 2,
    deadlineAtMs: null,
    leftMs: null,
    costUsd: null,
    tokens: null,
    contextTokens: null,
    contextShare: null,
    runaway: null,
    lastAtMs: 0,
    silentMs: 0,
  };
  const pattern = { kind: injection, level: 'warn', occurrences: 3, stuck: true } as const;
  expect([
    ownStatusText({ ...status, outcome: null, pattern }),
    ownStatusText({ ...status, outcome: injection, pattern: null }),
  ]).toEqual(['3 calls, 1 error, stuck likely: a pattern', '3 calls, 1 error, over']);
});
