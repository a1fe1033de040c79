import { Agent, MemorySession, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';

import { messageOf } from '../src/core/base/error.ts';
import { openaiAgentsCapabilities, coxswainAgents } from '../src/adapters/openai-agents/index.ts';
import type { AdapterHarness, AdapterOutcome, AdapterScene } from '../test/support/adapter-contract/adapter-harness.ts';
import { ANSWER_SCHEMA, SCENE_TOOL_SCHEMA } from '../test/support/adapter-contract/contract-scenes.ts';
import { mapModelCalls } from '../src/testing/model-script.ts';
import { startSceneServer } from '../test/support/scene-server.ts';
import { neutralChatRequest, neutralResponsesRequest } from '../test/support/adapter-contract/neutral-request.ts';
import { scriptedToolbox } from '../test/support/adapter-contract/scripted-toolbox.ts';

setTracingDisabled(true);

/** How a harness uses the package. */
interface Usage {
  readonly useResponses: boolean;
  /** Tools with an `errorFunction` of the user's, and the user's word for what it says. */
  readonly tellsErrors: boolean;
}

/** A runner over Responses, which is the package's default. */
export const harness: AdapterHarness = {
  name: 'openai-agents',
  capabilities: openaiAgentsCapabilities,
  run: (scene) => play(scene, { useResponses: true, tellsErrors: true }),
};

/** The same over chat completions, and with what the package tells the model of errors by itself. */
export const chatHarness: AdapterHarness = {
  name: 'openai-agents over chat completions',
  capabilities: openaiAgentsCapabilities,
  run: (scene) => play(scene, { useResponses: false, tellsErrors: false }),
  skips: {
    'every call is recorded with its arguments, its success flag, and its result without feedback':
      'by itself the SDK tells neither the model nor us what a tool threw; openai-agents.test.ts looks at the flag',
  },
};

async function play(scene: AdapterScene, { useResponses, tellsErrors }: Usage): Promise<AdapterOutcome> {
  const { below } = scene;
  const script =
    below?.handsOver === true
      ? mapModelCalls(scene.script, (call) =>
          call.name === below.name ? { ...call, name: `transfer_to_${call.name}` } : call,
        )
      : scene.script;
  const { server, signal } = await startSceneServer({ ...scene, script });
  const toolbox = scriptedToolbox(scene.tools);
  const own = toolbox.names.map((name) =>
    tool({
      name,
      description: name,
      parameters: { ...SCENE_TOOL_SCHEMA, required: [], additionalProperties: true },
      strict: false,
      execute: (args) => toolbox.run(name, args),
      ...(tellsErrors ? { errorFunction: (_context: unknown, error: unknown) => String(error) } : {}),
    }),
  );
  const steering =
    scene.run === undefined
      ? undefined
      : coxswainAgents(scene.run, { ...scene.adapter, ...(tellsErrors ? { isError } : {}) });
  const tools = steering?.tools(own) ?? (scene.idleHooks === true ? own.map(idleTool) : own);
  const common = { model: 'gpt-5', modelSettings: { store: false } } as const;
  const digger = below === undefined ? undefined : new Agent({ ...below, ...common, tools });
  const agentTool = digger?.asTool({ toolName: digger.name, toolDescription: digger.name });
  const outputType = { type: 'json_schema', name: 'answer', strict: true, schema: ANSWER_SCHEMA } as const;
  const agent = new Agent({
    name: 'looker',
    ...(scene.structured === true ? { outputType: outputType as unknown as 'text' } : {}),
    instructions: 'You look around.',
    ...common,
    tools: [...tools, ...(agentTool === undefined || below?.handsOver === true ? [] : [agentTool])],
    handoffs: digger === undefined || below?.handsOver !== true ? [] : [digger],
  });
  const provider = new OpenAIProvider({ baseURL: `${server.url}/v1`, apiKey: 'none', useResponses });
  const runner = new Runner({ modelProvider: provider });
  steering?.attach(runner);
  if (scene.idleHooks === true) {
    for (const event of ['agent_start', 'agent_handoff', 'agent_tool_start', 'agent_tool_end'] as const) {
      runner.on(event, () => undefined);
    }
  }
  if (scene.userHookThrows === true) {
    runner.on('agent_tool_end', () => {
      throw new Error('the hook of the user is broken');
    });
  }
  const session = scene.session === true ? new MemorySession() : undefined;
  const options = { signal, maxTurns: 60, ...(session === undefined ? {} : { session }) };
  const work = async (): Promise<{ readonly finalText: string; readonly history: unknown }> => {
    if (scene.streaming !== true) {
      const result = await runner.run(agent, scene.prompt, options);
      return { finalText: textOf(result.finalOutput), history: result.history };
    }
    const result = await runner.run(agent, scene.prompt, { ...options, stream: true });
    for await (const event of result) void event;
    await result.completed;
    return { finalText: textOf(result.finalOutput), history: result.history };
  };
  try {
    const answer = await work().then(
      ({ finalText, history }) => ({ ended: 'normally' as const, finalText, history }),
      (error: unknown) => ({ ended: { error: messageOf(error) }, finalText: '', history: undefined }),
    );
    const { history, ...told } = answer;
    const neutral = useResponses ? neutralResponsesRequest : neutralChatRequest;
    const requests = server.mainRequests().map(({ raw }) => neutral(raw));
    const storedHistory = JSON.stringify([history, await session?.getItems()]);
    return { ...told, requests, toolRuns: toolbox.runs, storedHistory };
  } finally {
    await scene.run?.end();
    await server.close();
  }
}

/** A structured answer is an object. */
function textOf(output: unknown): string {
  return typeof output === 'string' ? output : output === undefined ? '' : JSON.stringify(output);
}

/** The same tool within a function that does nothing. */
function idleTool<Own extends { readonly invoke: (...given: never) => Promise<unknown> }>(own: Own): Own {
  return { ...own, invoke: async (...given: never) => await own.invoke(...given) };
}

function isError(result: unknown): boolean {
  return typeof result === 'string' && result.startsWith('Error: ');
}
