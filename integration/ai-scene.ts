import {
  generateText,
  isStepCount,
  jsonSchema,
  streamText,
  tool,
  ToolLoopAgent,
  wrapLanguageModel,
  type ToolSet,
} from 'ai';
import * as ai6 from 'ai-6';
import { coxswainAgent, type CoxswainAgent, type CoxswainAgentOptions } from '../src/adapters/ai-sdk/index.ts';
import { messageOf } from '../src/base/error.ts';
import type { AdapterOutcome, AdapterScene } from '../src/testing/adapter-harness.ts';
import { SCENE_TOOL_SCHEMA } from '../src/testing/contract-scenes.ts';
import { withBelow } from '../test/support/with-below.ts';
import { scriptedToolbox, type ScriptedToolbox } from '../src/testing/scripted-toolbox.ts';
import {
  neutralAiRequest,
  scriptedAi6Model,
  scriptedAiModel,
  type ScriptedAiModelOptions,
} from './scripted-ai-model.ts';

/** What a scene of this adapter may have besides those of the contract. */
export interface AiScene extends AdapterScene {
  /** Which of the SDK's entry points plays it; default `functions`: `generateText` and `streamText`. */
  readonly entry?: 'functions' | 'agent';
  readonly version?: 7 | 6;
  readonly options?: CoxswainAgentOptions;
  readonly maxOutputTokens?: number;
}

/** What the SDK gave. */
interface AiAnswer {
  readonly text: string;
  readonly history: unknown;
}

/** Plays a scene with the real SDK and its own mock model. */
export async function playAi(scene: AiScene): Promise<AdapterOutcome> {
  const abort = new AbortController();
  const scripted: ScriptedAiModelOptions = {
    script: scene.script,
    answerAfterMs: scene.answerAfterMs ?? 0,
    onRequest: (index) => {
      if (index === scene.abortAtRequest) abort.abort();
    },
  };
  const { run } = scene;
  const cox =
    run === undefined
      ? undefined
      : coxswainAgent(run, { ...scene.adapter, forceTurn: scene.forceTurn === true, ...scene.options });
  const { model, requests } = scene.version === 6 ? scriptedAi6Model(scripted) : scriptedAiModel(scripted);
  const ask = async (asked: Asked, toolbox: ScriptedToolbox): Promise<AiAnswer> => {
    const stage = { ...asked, cox, toolbox, signal: abort.signal };
    // The model is that of the version.
    return scene.version === 6
      ? await askSix(scene, { ...stage, model: model as Six['model'] })
      : await askSeven(scene, { ...stage, model: model as Seven['model'] });
  };
  const toolbox = withBelow(scene, async (asked) => (await ask(asked, scriptedToolbox(scene.tools))).text);
  const answer = await ask({ prompt: scene.prompt }, toolbox).then(
    (given) => ({ ended: 'normally' as const, ...given }),
    (error: unknown) => ({ ended: { error: messageOf(error) }, text: '', history: [] }),
  );
  await run?.end();
  return {
    requests: requests.map(neutralAiRequest),
    ended: answer.ended,
    finalText: answer.text,
    toolRuns: toolbox.runs,
    storedHistory: JSON.stringify(answer.history),
  };
}

/** What an agent is asked. */
interface Asked {
  readonly prompt: string;
  /** Of the agent below only. */
  readonly instructions?: string;
}

interface Stage extends Asked {
  readonly cox: CoxswainAgent | undefined;
  readonly toolbox: ScriptedToolbox;
  readonly signal: AbortSignal;
}

type Seven = Stage & Pick<ReturnType<typeof scriptedAiModel>, 'model'>;
type Six = Stage & Pick<ReturnType<typeof scriptedAi6Model>, 'model'>;

async function askSeven(
  scene: AiScene,
  { cox, instructions, model, prompt, toolbox, signal }: Seven,
): Promise<AiAnswer> {
  const isAgent = scene.entry === 'agent';
  const tools: ToolSet = Object.fromEntries(
    toolbox.names.map((name) => [
      name,
      tool({
        description: `The tool ${name} of the scene.`,
        inputSchema: jsonSchema<Record<string, unknown>>(SCENE_TOOL_SCHEMA),
        execute: async (args) => await toolbox.run(name, args),
      }),
    ]),
  );
  const given = { model, tools };
  const idle = {
    model: wrapLanguageModel({ model, middleware: { specificationVersion: 'v4' } }),
    tools: cox === undefined && scene.idleHooks === true ? idleTools(tools) : tools,
  };
  const settings = {
    ...(cox === undefined ? (scene.idleHooks === true ? idle : given) : cox.wrap(given)),
    stopWhen: isStepCount(60),
    maxRetries: 0,
    ...(instructions === undefined ? {} : isAgent ? { instructions } : { system: instructions }),
    ...(scene.maxOutputTokens === undefined ? {} : { maxOutputTokens: scene.maxOutputTokens }),
    ...(scene.userHookThrows === true ? { onStepFinish: throwing } : {}),
  };
  const asked = { prompt, abortSignal: signal };
  if (scene.streaming === true) {
    let fault: unknown;
    const onError = ({ error }: { readonly error: unknown }): void => {
      fault ??= error;
    };
    const streamed = isAgent
      ? await new ToolLoopAgent({ ...settings, onError }).stream(asked)
      : streamText({ ...settings, ...asked, onError });
    return await consumed(streamed, streamed.responseMessages, { fault: () => fault, signal });
  }
  const result = isAgent
    ? await new ToolLoopAgent(settings).generate(asked)
    : await generateText({ ...settings, ...asked });
  return { text: result.text, history: result.responseMessages };
}

async function askSix(scene: AiScene, { cox, instructions, model, prompt, toolbox, signal }: Six): Promise<AiAnswer> {
  const isAgent = scene.entry === 'agent';
  const tools: ai6.ToolSet = Object.fromEntries(
    toolbox.names.map((name) => [
      name,
      ai6.tool({
        description: `The tool ${name} of the scene.`,
        inputSchema: ai6.jsonSchema<Record<string, unknown>>(SCENE_TOOL_SCHEMA),
        execute: async (args) => await toolbox.run(name, args),
      }),
    ]),
  );
  const given = { model, tools };
  const settings = {
    ...(cox === undefined ? given : cox.wrap(given)),
    stopWhen: ai6.stepCountIs(60),
    maxRetries: 0,
    ...(instructions === undefined ? {} : isAgent ? { instructions } : { system: instructions }),
    ...(scene.maxOutputTokens === undefined ? {} : { maxOutputTokens: scene.maxOutputTokens }),
    ...(scene.userHookThrows === true ? { onStepFinish: throwing } : {}),
  };
  const asked = { prompt, abortSignal: signal };
  if (scene.streaming === true) {
    let fault: unknown;
    const onError = ({ error }: { readonly error: unknown }): void => {
      fault ??= error;
    };
    const streamed = isAgent
      ? await new ai6.ToolLoopAgent(settings).stream(asked)
      : ai6.streamText({ ...settings, ...asked, onError });
    const history = streamed.response.then(({ messages }) => messages);
    return await consumed(streamed, history, { fault: () => fault, signal });
  }
  const result = isAgent
    ? await new ai6.ToolLoopAgent(settings).generate(asked)
    : await ai6.generateText({ ...settings, ...asked });
  return { text: result.text, history: result.response.messages };
}

/** Reads a stream to its end, as a user does who wants the parts as they come. */
async function consumed(
  streamed: { readonly fullStream: AsyncIterable<{ readonly type: string }>; readonly text: PromiseLike<string> },
  history: PromiseLike<unknown>,
  { fault, signal }: { readonly fault: () => unknown; readonly signal: AbortSignal },
): Promise<AiAnswer> {
  // Rejects as well where the stream does.
  const stored = Promise.resolve(history).catch(() => []);
  let failed: unknown;
  for await (const part of streamed.fullStream) {
    if (part.type === 'error' && 'error' in part) failed ??= part.error;
    if (part.type === 'abort') failed ??= new Error('aborted');
  }
  failed ??= fault();
  if (signal.aborted) failed ??= new Error('aborted');
  if (failed !== undefined) throw failed instanceof Error ? failed : new Error(messageOf(failed));
  return { text: await streamed.text, history: await stored };
}

function throwing(): never {
  throw new Error('a hook of the user is broken');
}

function idleTools(tools: ToolSet): ToolSet {
  return Object.fromEntries(
    Object.entries(tools).map(([name, given]) => {
      const { execute } = given;
      if (execute === undefined) return [name, given];
      return [name, { ...given, execute: async (...args: Parameters<typeof execute>) => await execute(...args) }];
    }),
  );
}
