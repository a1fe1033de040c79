import { createOpenAI } from '@ai-sdk/openai';
import { Agent, type AgentConfig } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';

import { coxswainMastra, mastraCapabilities } from '../src/adapters/mastra/index.ts';
import type { AdapterHarness, AdapterOutcome, AdapterScene } from '../test/support/adapter-contract/adapter-harness.ts';
import { neutralChatRequest } from '../test/support/adapter-contract/neutral-request.ts';
import { scriptedToolbox, type ScriptedToolbox } from '../test/support/adapter-contract/scripted-toolbox.ts';
import { HANDOVER, withBelow } from '../test/support/with-below.ts';
import { playToEnd, type Played } from './play-to-end.ts';
import { startSceneServer } from '../test/support/scene-server.ts';

/** `agent.generate` and `agent.stream` of Mastra. */
export const harness: AdapterHarness = {
  name: 'mastra',
  capabilities: mastraCapabilities,
  skips: { [HANDOVER]: 'the SDK has no handoffs' },
  feedbackPlace: 'nearby',
  run: play,
};

/** A model at a fake server. */
export function modelAt(baseURL: string): NonNullable<AgentConfig['model']> {
  // The types of the package do not hold under exactOptionalPropertyTypes.
  return createOpenAI({ baseURL, apiKey: 'none' }).chat('gpt-5') as unknown as NonNullable<AgentConfig['model']>;
}

/** Tools that take any arguments. */
export function toolsOf(toolbox: ScriptedToolbox): NonNullable<AgentConfig['tools']> {
  return Object.fromEntries(
    toolbox.names.map((id) => [
      id,
      createTool({
        id,
        description: id,
        inputSchema: z.looseObject({}),
        execute: async (args) => await toolbox.run(id, args),
      }),
    ]),
  );
}

async function play(scene: AdapterScene): Promise<AdapterOutcome> {
  const { server, signal } = await startSceneServer(scene);
  const cox = scene.run === undefined ? undefined : coxswainMastra(scene.run, scene.adapter);
  const throwing = {
    id: 'throwing',
    processOutputStep: () => {
      throw new Error('the processor of the user is broken');
    },
  };
  const agentOf = (toolbox: ScriptedToolbox, instructions: string): Agent => {
    const config: AgentConfig = {
      id: 'scene',
      name: 'Scene',
      instructions,
      model: modelAt(`${server.url}/v1`),
      tools: toolsOf(toolbox),
      maxRetries: 0,
      ...(scene.userHookThrows === true ? { outputProcessors: [throwing] } : {}),
    };
    return new Agent(cox === undefined ? config : cox.wrap(config));
  };
  const ask = async (agent: Agent, prompt: string): Promise<Played> => {
    // The types of the package do not hold under exactOptionalPropertyTypes.
    const asked = { structuredOutput: { schema: z.object({ found: z.string() }) } } as unknown as {
      structuredOutput?: never;
    };
    const options = { maxSteps: 60, abortSignal: signal, ...(scene.structured === true ? asked : {}) };
    const output =
      scene.streaming === true ? await agent.stream(prompt, options) : await agent.generate(prompt, options);
    const full = 'getFullOutput' in output ? await output.getFullOutput() : output;
    if (full.error !== undefined) throw full.error;
    if (signal.aborted) throw new Error('aborted');
    return {
      text: full.steps.at(-1)?.text ?? '',
      history: JSON.stringify(
        full.messages.map(({ content }) => content.parts.map(({ type, ...part }) => ({ type, ...part, createdAt: 0 }))),
      ),
    };
  };
  const toolbox = withBelow(scene, async ({ instructions, prompt }) => {
    return (await ask(agentOf(scriptedToolbox(scene.tools), instructions), prompt)).text;
  });
  return await playToEnd(
    scene,
    { server, tools: toolbox, readRequest: neutralChatRequest },
    async () => await ask(agentOf(toolbox, 'You look around.'), scene.prompt),
  );
}
