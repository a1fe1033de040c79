import OpenAI from 'openai';
import OpenAI6 from 'openai-6';

import { openaiCapabilities } from '../src/adapters/openai/index.ts';
import type { AdapterHarness, AdapterOutcome, AdapterScene } from '../test/support/adapter-contract/adapter-harness.ts';
import { ANSWER_SCHEMA, SCENE_TOOL_SCHEMA } from '../test/support/adapter-contract/contract-scenes.ts';
import { neutralChatRequest } from '../test/support/adapter-contract/neutral-request.ts';
import { HANDOVER } from '../test/support/with-below.ts';
import { onStage } from './openai-stage.ts';

const skips = { [HANDOVER]: 'the SDK has no agents' };

/** `chat.completions.runTools` of openai 7. */
export const harness: AdapterHarness = runToolsHarness('openai chat, runTools', OpenAI);

/** The same of openai 6. */
// Both versions have what is used here; their types differ in what is not.
export const harnessOf6: AdapterHarness = runToolsHarness(
  'openai 6 chat, runTools',
  OpenAI6 as unknown as typeof OpenAI,
);

/** A custom loop over chat completions that reports tool errors to the model. */
export const loopHarness: AdapterHarness = {
  name: 'openai chat, own loop',
  capabilities: openaiCapabilities,
  skips,
  run: playLoop,
};

function runToolsHarness(name: string, Client: typeof OpenAI): AdapterHarness {
  return { name, capabilities: openaiCapabilities, skips, run: (scene) => playRunTools(scene, Client) };
}

async function playRunTools(scene: AdapterScene, Client: typeof OpenAI): Promise<AdapterOutcome> {
  return await onStage(
    scene,
    { Client, onToolError: 'throw', readRequest: neutralChatRequest },
    async ({ client, prompt, instructions, tools, steering, signal }) => {
      const own = tools.names.map((name) => ({
        type: 'function' as const,
        function: {
          name,
          description: name,
          parameters: SCENE_TOOL_SCHEMA,
          parse: (text: string): object => JSON.parse(text),
          function: (args: object) => tools.run(name, args),
        },
      }));
      const steered = steering?.tools(own) ?? (scene.idleHooks === true ? own.map(idleTool) : own);
      const messages = messagesOf(prompt, instructions);
      const body = { model: 'gpt-5', messages, tools: steered, ...formatOf(scene) };
      const options = {
        signal,
        maxChatCompletions: 60,
        afterCompletion: () => {
          if (scene.userHookThrows === true) throw new Error('the hook of the user is broken');
        },
      };
      const runner =
        scene.streaming === true
          ? client.chat.completions.runTools(
              { ...body, stream: true, stream_options: { include_usage: true } },
              options,
            )
          : client.chat.completions.runTools(body, options);
      const text = (await runner.finalContent()) ?? '';
      return { text, history: JSON.stringify(runner.messages) };
    },
  );
}

/** The same tool within a function that does nothing. */
function idleTool<Tool extends { readonly function: { readonly function: (args: object) => Promise<string> } }>(
  tool: Tool,
): Tool {
  const { function: inner } = tool;
  return { ...tool, function: { ...inner, function: async (args: object) => await inner.function(args) } };
}

async function playLoop(scene: AdapterScene): Promise<AdapterOutcome> {
  return await onStage(
    scene,
    { Client: OpenAI, onToolError: 'result', readRequest: neutralChatRequest },
    async ({ client, prompt, instructions, tools, steering, signal }) => {
      const messages = messagesOf(prompt, instructions);
      const body = {
        model: 'gpt-5',
        ...formatOf(scene),
        messages,
        tools: tools.names.map((name) => ({
          type: 'function' as const,
          function: { name, parameters: SCENE_TOOL_SCHEMA },
        })),
      };
      for (;;) {
        const completion =
          scene.streaming === true
            ? await client.chat.completions
                .stream({ ...body, stream_options: { include_usage: true } }, { signal })
                .finalChatCompletion()
            : await client.chat.completions.create(body, { signal });
        const message = completion.choices[0]?.message;
        if (message === undefined) throw new Error('the model gave no message');
        messages.push({
          role: 'assistant',
          content: message.content,
          ...(message.tool_calls === undefined ? {} : { tool_calls: message.tool_calls }),
        });
        if (scene.userHookThrows === true) throw new Error('the hook of the user is broken');
        const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
        if (calls.length === 0) return { text: message.content ?? '', history: JSON.stringify(messages) };
        const run = (name: string) => (text: string) => tools.run(name, JSON.parse(text));
        messages.push(
          ...(await Promise.all(
            calls.map((call) => {
              const execute = run(call.function.name);
              return steering === undefined ? plainMessage(call, execute) : steering.runToolCall(call, execute);
            }),
          )),
        );
      }
    },
  );
}

function formatOf({ structured = false }: AdapterScene): { response_format?: OpenAI.ResponseFormatJSONSchema } {
  if (!structured) return {};
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: ANSWER_SCHEMA } } };
}

function messagesOf(prompt: string, instructions: string | undefined): OpenAI.ChatCompletionMessageParam[] {
  const system = instructions === undefined ? [] : [{ role: 'system' as const, content: instructions }];
  return [...system, { role: 'user', content: prompt }];
}

async function plainMessage(
  call: OpenAI.ChatCompletionMessageFunctionToolCall,
  execute: (text: string) => Promise<string>,
): Promise<OpenAI.ChatCompletionToolMessageParam> {
  const content = await execute(call.function.arguments).catch(String);
  return { role: 'tool', tool_call_id: call.id, content };
}
