import { ChatOpenAI } from '@langchain/openai';
import {
  createAgent,
  createMiddleware,
  HumanMessage,
  providerStrategy,
  tool,
  ToolMessage,
  type BaseMessage,
} from 'langchain';

import { coxswainMiddleware, langchainCapabilities } from '../src/adapters/langchain/index.ts';
import type { AdapterHarness, AdapterOutcome, AdapterScene } from '../test/support/adapter-contract/adapter-harness.ts';
import { ANSWER_SCHEMA, SCENE_TOOL_SCHEMA } from '../test/support/adapter-contract/contract-scenes.ts';
import { neutralChatRequest } from '../test/support/adapter-contract/neutral-request.ts';
import { scriptedToolbox, type ScriptedToolbox } from '../test/support/adapter-contract/scripted-toolbox.ts';
import { HANDOVER, withBelow } from '../test/support/with-below.ts';
import { playToEnd } from './play-to-end.ts';
import { startSceneServer } from '../test/support/scene-server.ts';

/** Parts of the package that the adapter needs. */
export const handles: {
  readonly createMiddleware: typeof createMiddleware;
  readonly ToolMessage: typeof ToolMessage;
  readonly HumanMessage: typeof HumanMessage;
} = { createMiddleware, ToolMessage, HumanMessage };

/** A model at a fake server. */
export function chatModel(baseURL: string): ChatOpenAI {
  return new ChatOpenAI({
    model: 'gpt-5',
    apiKey: 'none',
    maxRetries: 0,
    streamUsage: true,
    useResponsesApi: false,
    configuration: { baseURL },
  });
}

/** `createAgent` of LangChain.js. */
export const harness: AdapterHarness = {
  name: 'langchain',
  capabilities: langchainCapabilities,
  skips: { [HANDOVER]: '`createAgent` has no handoffs' },
  run: play,
};

async function play(scene: AdapterScene): Promise<AdapterOutcome> {
  const { server, signal } = await startSceneServer(scene);
  const ours = scene.run === undefined ? [] : [coxswainMiddleware(scene.run, handles, scene.adapter)];
  const throwing = createMiddleware({
    name: 'throwing',
    afterModel: () => {
      throw new Error('the hook of the user is broken');
    },
  });
  const agentOf = (toolbox: ScriptedToolbox, systemPrompt: string) =>
    createAgent({
      model: chatModel(`${server.url}/v1`),
      systemPrompt,
      ...(scene.structured === true ? { responseFormat: providerStrategy(ANSWER_SCHEMA) as never } : {}),
      tools: toolbox.names.map((name) =>
        tool(async (args: unknown) => await toolbox.run(name, args), {
          name,
          description: name,
          schema: SCENE_TOOL_SCHEMA,
        }),
      ),
      middleware: [...ours, ...(scene.userHookThrows === true ? [throwing] : [])],
    });
  const inputOf = (content: string) => ({ messages: [{ role: 'user' as const, content }] });
  const toolbox = withBelow(scene, async ({ instructions, prompt }) => {
    const below = agentOf(scriptedToolbox(scene.tools), instructions);
    return (await below.invoke(inputOf(prompt))).messages.at(-1)?.text ?? '';
  });
  const agent = agentOf(toolbox, 'You look around.');
  const input = inputOf(scene.prompt);
  const options = { signal, recursionLimit: 200 };
  const work = async (): Promise<BaseMessage[]> => {
    if (scene.streaming !== true) return (await agent.invoke(input, options)).messages;
    let messages: BaseMessage[] = [];
    const parts = await agent.stream(input, { ...options, streamMode: ['messages', 'values'] });
    for await (const [mode, part] of parts) if (mode === 'values') ({ messages } = part);
    return messages;
  };
  return await playToEnd(scene, { server, tools: toolbox, readRequest: neutralChatRequest }, async () => {
    const messages = await work();
    return {
      text: messages.at(-1)?.text ?? '',
      history: JSON.stringify(messages.map(({ content }) => content)),
    };
  });
}
