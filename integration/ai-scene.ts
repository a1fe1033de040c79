import * as ai7 from 'ai';
import type { ToolSet } from 'ai';
import * as ai6 from 'ai-6';
import { coxswainAgent, type CoxswainAgent, type RefusalOptions } from '../src/adapters/ai-sdk/index.ts';
import { messageOf } from '../src/core/base/error.ts';
import type { AdapterOutcome, AdapterScene } from '../test/support/adapter-contract/adapter-harness.ts';
import { abortReasonOf, ANSWER_SCHEMA, SCENE_TOOL_SCHEMA } from '../test/support/adapter-contract/contract-scenes.ts';
import { withBelow } from '../test/support/with-below.ts';
import { scriptedToolbox, type ScriptedToolbox } from '../test/support/adapter-contract/scripted-toolbox.ts';
import {
  neutralAiRequest,
  scriptedAi6Model,
  scriptedAiModel,
  type ScriptedAiModelOptions,
} from './scripted-ai-model.ts';

/** A scene with options of this adapter. */
export interface AiScene extends AdapterScene {
  /** Which of the SDK's entry points plays it; default `functions`: `generateText` and `streamText`. */
  readonly entry?: 'functions' | 'agent';
  readonly version?: 7 | 6;
  readonly options?: RefusalOptions;
}

/** Result of the SDK. */
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
      if (index === scene.abortAtRequest) abort.abort(abortReasonOf(scene));
    },
  };
  const { run } = scene;
  const cox = run === undefined ? undefined : coxswainAgent(run, { ...scene.adapter, ...scene.options });
  const { model, requests } = scene.version === 6 ? scriptedAi6Model(scripted) : scriptedAiModel(scripted);
  const play = async (task: Task, toolbox: ScriptedToolbox): Promise<AiAnswer> =>
    // The model belongs to the SDK that calls it.
    await ask(scene, { ...task, cox, toolbox, signal: abort.signal, model: model as Stage['model'] });
  const toolbox = withBelow(scene, async (task) => (await play(task, scriptedToolbox(scene.tools))).text);
  const answer = await play({ prompt: scene.prompt }, toolbox).then(
    (result) => ({ ended: 'normally' as const, ...result }),
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

/** Task of an agent. */
interface Task {
  readonly prompt: string;
  /** Of the agent below only. */
  readonly instructions?: string;
}

interface Stage extends Task {
  readonly cox: CoxswainAgent | undefined;
  readonly toolbox: ScriptedToolbox;
  readonly signal: AbortSignal;
  readonly model: ReturnType<typeof scriptedAiModel>['model'];
}

async function ask(scene: AiScene, { cox, instructions, model, prompt, toolbox, signal }: Stage): Promise<AiAnswer> {
  const isSix = scene.version === 6;
  // The functions in use take the same arguments in both versions.
  const sdk = isSix ? ({ ...ai6, isStepCount: ai6.stepCountIs } as unknown as typeof ai7) : ai7;
  const isAgent = scene.entry === 'agent';
  const isIdle = cox === undefined && scene.idleHooks === true;
  const tools: ToolSet = Object.fromEntries(
    toolbox.names.map((name) => [
      name,
      sdk.tool({
        description: `The tool ${name} of the scene.`,
        inputSchema: sdk.jsonSchema<Record<string, unknown>>(SCENE_TOOL_SCHEMA),
        execute: async (args) => await toolbox.run(name, args),
      }),
    ]),
  );
  const plain = isIdle
    ? {
        model: sdk.wrapLanguageModel({ model, middleware: { specificationVersion: 'v4' } }),
        tools: idleTools(tools),
      }
    : { model, tools };
  const settings = {
    ...(cox === undefined ? plain : cox.wrap({ model, tools })),
    stopWhen: sdk.isStepCount(60),
    maxRetries: 0,
    ...(instructions === undefined ? {} : isAgent ? { instructions } : { system: instructions }),
    ...(scene.structured === true
      ? { output: sdk.Output.object({ schema: sdk.jsonSchema<{ found: string }>(ANSWER_SCHEMA) }) }
      : {}),
    ...(scene.userHookThrows === true ? { onStepFinish: throwing } : {}),
  };
  const call = { prompt, abortSignal: signal };
  if (scene.streaming === true) {
    let fault: unknown;
    const onError = ({ error }: { readonly error: unknown }): void => {
      fault ??= error;
    };
    const streamed = isAgent
      ? await new sdk.ToolLoopAgent({ ...settings, onError }).stream(call)
      : sdk.streamText({ ...settings, ...call, onError });
    const history = isSix ? streamed.response.then(({ messages }) => messages) : streamed.responseMessages;
    return await consumed(streamed, history, { fault: () => fault, signal });
  }
  const result = isAgent
    ? await new sdk.ToolLoopAgent(settings).generate(call)
    : await sdk.generateText({ ...settings, ...call });
  return { text: result.text, history: isSix ? result.response.messages : result.responseMessages };
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
