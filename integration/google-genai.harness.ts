import {
  GoogleGenAI,
  type CallableTool,
  type Content,
  type FunctionCall,
  type GenerateContentParameters,
} from '@google/genai';

import { googleGenAiCapabilities, googleGenAiSteering } from '../src/adapters/google-genai/index.ts';
import { isJsonObject, objectsIn, textOrEmpty } from '../src/core/base/json.ts';
import type {
  AdapterHarness,
  AdapterOutcome,
  AdapterScene,
  NeutralMessage,
  NeutralRequest,
} from '../test/support/adapter-contract/adapter-harness.ts';
import { abortReasonOf, ANSWER_SCHEMA, SCENE_TOOL_SCHEMA } from '../test/support/adapter-contract/contract-scenes.ts';
import { scriptedToolbox, type ScriptedToolbox } from '../test/support/adapter-contract/scripted-toolbox.ts';
import { startFakeGeminiServer } from './fake-gemini-server.ts';
import { playToEnd, type Played } from './play-to-end.ts';
import { HANDOVER, withBelow } from '../test/support/with-below.ts';

const skips = { [HANDOVER]: 'the SDK has no agents' };

/** Automatic function calling of `ai.models.generateContent`. */
export const harness: AdapterHarness = {
  name: 'google-genai, automatic calls',
  capabilities: googleGenAiCapabilities,
  skips,
  run: (scene) => onStage(scene, playAutomatic),
};

/** A custom loop over `ai.models`. */
export const loopHarness: AdapterHarness = {
  name: 'google-genai, own loop',
  capabilities: googleGenAiCapabilities,
  skips,
  run: (scene) => onStage(scene, playLoop),
};

interface Stage {
  readonly scene: AdapterScene;
  readonly client: GoogleGenAI;
  readonly prompt: string;
  readonly instructions: string | undefined;
  readonly tools: ScriptedToolbox;
  readonly steering: ReturnType<typeof googleGenAiSteering> | undefined;
  readonly signal: AbortSignal;
}

async function onStage(scene: AdapterScene, play: (stage: Stage) => Promise<Played>): Promise<AdapterOutcome> {
  const controller = new AbortController();
  const server = await startFakeGeminiServer(
    {
      script: scene.script,
      answerAfterMs: scene.answerAfterMs ?? 0,
      onRequest: ({ mainIndex }) => {
        if (mainIndex !== undefined && mainIndex === scene.abortAtRequest) controller.abort(abortReasonOf(scene));
      },
    },
    true,
  );
  const steering = scene.run === undefined ? undefined : googleGenAiSteering(scene.run, scene.adapter);
  const client = new GoogleGenAI({
    apiKey: 'none',
    httpOptions: { baseUrl: server.url, ...(steering === undefined ? {} : { fetch: steering.fetch() }) },
  });
  const common = { scene, client, steering, signal: controller.signal };
  const tools = withBelow(scene, async ({ instructions, prompt }) => {
    return (await play({ ...common, prompt, instructions, tools: scriptedToolbox(scene.tools) })).text;
  });
  return await playToEnd(scene, { server, tools, readRequest: neutralGeminiRequest }, () =>
    play({ ...common, prompt: scene.prompt, instructions: undefined, tools }),
  );
}

function declarationsOf(
  tools: ScriptedToolbox,
): { name: string; description: string; parametersJsonSchema: unknown }[] {
  return tools.names.map((name) => ({ name, description: name, parametersJsonSchema: SCENE_TOOL_SCHEMA }));
}

function requestOf(
  { instructions, scene, signal }: Stage,
  contents: Content[],
  config: object,
): GenerateContentParameters {
  const system = instructions === undefined ? {} : { systemInstruction: instructions };
  const format =
    scene.structured === true ? { responseMimeType: 'application/json', responseJsonSchema: ANSWER_SCHEMA } : {};
  return { model: 'gemini-3-pro', contents, config: { ...system, ...format, abortSignal: signal, ...config } };
}

async function playAutomatic(stage: Stage): Promise<Played> {
  const { client, prompt, scene, steering, tools } = stage;
  const own: CallableTool = {
    tool: async () => ({ functionDeclarations: declarationsOf(tools) }),
    callTool: async (calls) =>
      await Promise.all(
        calls.map(async ({ args, id, name = '' }) => {
          const response = await tools.run(name, args).then(
            (output) => ({ output }),
            (error: unknown) => ({ error: String(error) }),
          );
          return { functionResponse: { ...(id === undefined ? {} : { id }), name, response } };
        }),
      ),
  };
  const config = {
    tools: [steering?.tool(own) ?? own],
    automaticFunctionCalling: { maximumRemoteCalls: 60 },
  };
  const contents: Content[] = [{ role: 'user', parts: [{ text: prompt }] }];
  if (scene.streaming === true) {
    let text = '';
    for await (const chunk of await client.models.generateContentStream(requestOf(stage, contents, config))) {
      text += textOf(chunk.candidates?.[0]?.content);
      if (scene.userHookThrows === true) throw new Error('the hook of the user is broken');
    }
    return { text, history: '' };
  }
  const answer = await client.models.generateContent(requestOf(stage, contents, config));
  if (scene.userHookThrows === true) throw new Error('the hook of the user is broken');
  return {
    text: textOf(answer.candidates?.[0]?.content),
    history: JSON.stringify(answer.automaticFunctionCallingHistory),
  };
}

async function playLoop(stage: Stage): Promise<Played> {
  const { client, prompt, scene, steering, tools } = stage;
  const contents: Content[] = [{ role: 'user', parts: [{ text: prompt }] }];
  const config = { tools: [{ functionDeclarations: declarationsOf(tools) }] };
  for (;;) {
    const content = await ask(client, requestOf(stage, contents, config), scene.streaming === true);
    contents.push(content);
    if (scene.userHookThrows === true) throw new Error('the hook of the user is broken');
    const calls = (content.parts ?? []).flatMap(({ functionCall }) => functionCall ?? []);
    if (calls.length === 0) return { text: textOf(content), history: JSON.stringify(contents) };
    const parts = await Promise.all(
      calls.map(async (call) => {
        const execute = (args: object): Promise<string> => tools.run(call.name ?? '', args);
        return (await steering?.runToolCall(call, execute)) ?? (await plainPart(call, execute));
      }),
    );
    contents.push({ role: 'user', parts });
  }
}

async function ask(client: GoogleGenAI, request: GenerateContentParameters, isStreaming: boolean): Promise<Content> {
  if (!isStreaming) {
    const { candidates } = await client.models.generateContent(request);
    return candidates?.[0]?.content ?? { role: 'model', parts: [] };
  }
  const parts: Content['parts'] = [];
  for await (const { candidates } of await client.models.generateContentStream(request)) {
    parts.push(...(candidates?.[0]?.content?.parts ?? []));
  }
  return { role: 'model', parts };
}

function textOf(content: Content | undefined): string {
  return (content?.parts ?? []).map(({ text }) => text ?? '').join('');
}

async function plainPart(
  { args = {}, id, name = '' }: FunctionCall,
  execute: (args: object) => Promise<string>,
): Promise<{ functionResponse: { id?: string; name: string; response: Record<string, unknown> } }> {
  const response = await execute(args).then(
    (output) => ({ output }),
    (error: unknown) => ({ error: String(error) }),
  );
  return { functionResponse: { ...(id === undefined ? {} : { id }), name, response } };
}

/** Converts a request to Gemini's API, part by part. */
function neutralGeminiRequest(raw: string): NeutralRequest {
  // The SDK sent an object.
  const { contents, systemInstruction } = JSON.parse(raw) as Readonly<Record<string, unknown>>;
  const system = isJsonObject(systemInstruction) ? objectsIn(systemInstruction['parts']) : [];
  return {
    raw,
    messages: [
      ...system.map((part) => ({ role: 'system', text: textOrEmpty(part['text']) })),
      ...objectsIn(contents).flatMap(({ parts, role }) =>
        objectsIn(parts).map((part) => geminiPart(textOrEmpty(role), part)),
      ),
    ],
  };
}

function geminiPart(role: string, part: Readonly<Record<string, unknown>>): NeutralMessage {
  const { functionCall, functionResponse } = part;
  if (isJsonObject(functionCall)) {
    const { args, id, name } = functionCall;
    return { role, toolCallId: textOrEmpty(id), text: `${textOrEmpty(name)} ${JSON.stringify(args)}` };
  }
  if (!isJsonObject(functionResponse)) return { role, text: textOrEmpty(part['text']) };
  const { id, response } = functionResponse;
  const { error, feedback, output } = isJsonObject(response) ? response : {};
  const text = [textOrEmpty(error ?? output), ...(feedback === undefined ? [] : [textOrEmpty(feedback)])].join('\n\n');
  return { role: 'tool', toolCallId: textOrEmpty(id), text, isError: error !== undefined };
}
