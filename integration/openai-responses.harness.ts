import OpenAI from 'openai';
import OpenAI6 from 'openai-6';

import { openaiCapabilities } from '../src/adapters/openai/index.ts';
import type { AdapterHarness, AdapterOutcome, AdapterScene } from '../test/support/adapter-contract/adapter-harness.ts';
import { ANSWER_SCHEMA, SCENE_TOOL_SCHEMA } from '../test/support/adapter-contract/contract-scenes.ts';
import { neutralResponsesRequest } from '../test/support/adapter-contract/neutral-request.ts';
import { HANDOVER } from '../test/support/with-below.ts';
import { onStage } from './openai-stage.ts';

const skips = { [HANDOVER]: 'the SDK has no agents' };

/** A loop over Responses of openai 7 that keeps the history itself. */
export const harness: AdapterHarness = responsesHarness('openai responses', OpenAI);

/** The same of openai 6. */
// Both versions have what is used here; their types differ in what is not.
export const harnessOf6: AdapterHarness = responsesHarness('openai 6 responses', OpenAI6 as unknown as typeof OpenAI);

function responsesHarness(name: string, Client: typeof OpenAI): AdapterHarness {
  return { name, capabilities: openaiCapabilities, skips, run: (scene) => play(scene, Client) };
}

async function play(scene: AdapterScene, Client: typeof OpenAI): Promise<AdapterOutcome> {
  const options = { Client, onToolError: 'result', readRequest: neutralResponsesRequest } as const;
  return await onStage(
    scene,
    options,
    async ({ client, prompt, instructions = 'You look around.', tools, steering, signal }) => {
      const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: prompt }];
      const body = {
        model: 'gpt-5',
        store: false,
        ...(scene.structured === true
          ? { text: { format: { type: 'json_schema' as const, name: 'answer', schema: ANSWER_SCHEMA } } }
          : {}),
        instructions,
        input,
        tools: tools.names.map((name) => ({
          type: 'function' as const,
          name,
          parameters: SCENE_TOOL_SCHEMA,
          strict: false,
        })),
      };
      for (;;) {
        const response: OpenAI.Responses.Response =
          scene.streaming === true
            ? await client.responses.stream(body, { signal }).finalResponse()
            : await client.responses.create(body, { signal });
        // The output goes back to the model unchanged; the types of both directions differ in rare items.
        input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
        if (scene.userHookThrows === true) throw new Error('the hook of the user is broken');
        const calls = response.output.filter((item) => item.type === 'function_call');
        if (calls.length === 0) return { text: response.output_text, history: JSON.stringify(input) };
        input.push(
          ...(await Promise.all(
            calls.map((call) => {
              const execute = (text: string): Promise<string> => tools.run(call.name, JSON.parse(text));
              return steering === undefined ? plainOutput(call, execute) : steering.runToolCall(call, execute);
            }),
          )),
        );
      }
    },
  );
}

async function plainOutput(
  call: OpenAI.Responses.ResponseFunctionToolCall,
  execute: (text: string) => Promise<string>,
): Promise<OpenAI.Responses.ResponseInputItem.FunctionCallOutput> {
  const output = await execute(call.arguments).catch(String);
  return { type: 'function_call_output', call_id: call.call_id, output };
}
