import Anthropic from '@anthropic-ai/sdk';

import { anthropicCapabilities, anthropicSteering } from '../src/adapters/anthropic/index.ts';
import { startFakeAnthropicServer } from '../src/testing/fake-anthropic-server.ts';
import type { AdapterHarness, AdapterOutcome, AdapterScene } from '../test/support/adapter-contract/adapter-harness.ts';
import { abortReasonOf, ANSWER_SCHEMA, SCENE_TOOL_SCHEMA } from '../test/support/adapter-contract/contract-scenes.ts';
import { neutralAnthropicRequest } from '../test/support/adapter-contract/neutral-request.ts';
import { scriptedToolbox, type ScriptedToolbox } from '../test/support/adapter-contract/scripted-toolbox.ts';
import { playToEnd, type Played } from './play-to-end.ts';
import { HANDOVER, withBelow } from '../test/support/with-below.ts';

const skips = { [HANDOVER]: 'the SDK has no agents' };

/** `client.beta.messages.toolRunner`. */
export const harness: AdapterHarness = {
  name: 'anthropic, toolRunner',
  capabilities: anthropicCapabilities,
  skips,
  run: (scene) => onStage(scene, playRunner),
};

/** A custom loop over `client.messages`. */
export const loopHarness: AdapterHarness = {
  name: 'anthropic, own loop',
  capabilities: anthropicCapabilities,
  skips,
  run: (scene) => onStage(scene, playLoop),
};

interface Stage {
  readonly scene: AdapterScene;
  readonly client: Anthropic;
  readonly prompt: string;
  readonly instructions: string | undefined;
  readonly tools: ScriptedToolbox;
  readonly steering: ReturnType<typeof anthropicSteering> | undefined;
  readonly signal: AbortSignal;
}

async function onStage(scene: AdapterScene, play: (stage: Stage) => Promise<Played>): Promise<AdapterOutcome> {
  const controller = new AbortController();
  const server = await startFakeAnthropicServer({
    script: scene.script,
    answerAfterMs: scene.answerAfterMs ?? 0,
    onRequest: ({ mainIndex }) => {
      if (mainIndex !== undefined && mainIndex === scene.abortAtRequest) controller.abort(abortReasonOf(scene));
    },
  });
  const steering = scene.run === undefined ? undefined : anthropicSteering(scene.run, scene.adapter);
  const client = new Anthropic({
    baseURL: server.url,
    apiKey: 'none',
    maxRetries: 0,
    ...(steering === undefined ? {} : { fetch: steering.fetch() }),
  });
  const common = { scene, client, steering, signal: controller.signal };
  const tools = withBelow(scene, async ({ instructions, prompt }) => {
    return (await play({ ...common, prompt, instructions, tools: scriptedToolbox(scene.tools) })).text;
  });
  return await playToEnd(scene, { server, tools, readRequest: neutralAnthropicRequest }, () =>
    play({ ...common, prompt: scene.prompt, instructions: undefined, tools }),
  );
}

interface Body {
  readonly model: string;
  readonly max_tokens: number;
  readonly system?: string;
  readonly output_config?: Anthropic.OutputConfig;
}

function bodyOf({ instructions, scene }: Stage): Body {
  const format = { type: 'json_schema', schema: { ...ANSWER_SCHEMA } } as const;
  return {
    model: 'claude-opus-5',
    max_tokens: 1000,
    ...(instructions === undefined ? {} : { system: instructions }),
    ...(scene.structured === true ? { output_config: { format } } : {}),
  };
}

// The scene's schema is an object schema.
const input_schema = SCENE_TOOL_SCHEMA as Anthropic.Tool.InputSchema;

async function playRunner(stage: Stage): Promise<Played> {
  const { client, prompt, scene, signal, steering, tools } = stage;
  const own = tools.names.map((name) => ({
    type: 'custom' as const,
    name,
    description: name,
    input_schema,
    parse: (content: unknown) => content as object,
    run: (args: object) => tools.run(name, args),
  }));
  const body = {
    ...bodyOf(stage),
    messages: [{ role: 'user' as const, content: prompt }],
    tools: own.map((tool) => steering?.tool(tool) ?? tool),
    max_iterations: 60,
    // In a thread the provider keeps what it is sent, so that advice stays in the conversation.
    thread: false as const,
  };
  if (scene.streaming === true) {
    const runner = client.beta.messages.toolRunner({ ...body, stream: true }, { signal });
    for await (const message of runner) {
      await message.done();
      if (scene.userHookThrows === true) throw new Error('the hook of the user is broken');
    }
    return playedOf(await runner.done(), runner.params.messages);
  }
  const runner = client.beta.messages.toolRunner(body, { signal });
  for await (const message of runner) {
    if (scene.userHookThrows === true) throw new Error(`the hook of the user is broken at ${message.id}`);
  }
  return playedOf(await runner.done(), runner.params.messages);
}

function playedOf(message: { readonly content: readonly unknown[] }, messages: readonly unknown[]): Played {
  return { text: textOf(message), history: JSON.stringify(messages) };
}

function textOf({ content }: { readonly content: readonly unknown[] }): string {
  return content
    .flatMap((block) => (typeof block === 'object' && block !== null && 'text' in block ? [String(block.text)] : []))
    .join('');
}

async function playLoop(stage: Stage): Promise<Played> {
  const { client, prompt, scene, signal, steering, tools } = stage;
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: prompt }];
  for (;;) {
    const body = {
      ...bodyOf(stage),
      messages,
      tools: tools.names.map((name) => ({ name, description: name, input_schema })),
    };
    const message =
      scene.streaming === true
        ? await client.messages.stream(body, { signal }).finalMessage()
        : await client.messages.create(body, { signal });
    messages.push({ role: 'assistant', content: message.content });
    if (scene.userHookThrows === true) throw new Error('the hook of the user is broken');
    const calls = message.content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) return { text: textOf(message), history: JSON.stringify(messages) };
    const content = await Promise.all(
      calls.map(async (call): Promise<Anthropic.ToolResultBlockParam> => {
        const execute = (input: object): Promise<string> => tools.run(call.name, input);
        return (await steering?.runToolCall(call, execute)) ?? (await plainResult(call, execute));
      }),
    );
    messages.push({ role: 'user', content });
  }
}

async function plainResult(
  { id, input }: Anthropic.ToolUseBlock,
  execute: (input: object) => Promise<string>,
): Promise<Anthropic.ToolResultBlockParam> {
  try {
    return { type: 'tool_result', tool_use_id: id, content: await execute(input as object) };
  } catch (error) {
    return { type: 'tool_result', tool_use_id: id, content: String(error), is_error: true };
  }
}
