import type OpenAI from 'openai';

import { messageOf } from '../src/core/base/error.ts';
import { openaiSteering, type OpenAiSteering } from '../src/adapters/openai/index.ts';
import type { AdapterOutcome, AdapterScene, NeutralRequest } from '../test/support/adapter-contract/adapter-harness.ts';
import { startSceneServer } from '../test/support/scene-server.ts';
import { withBelow } from '../test/support/with-below.ts';
import { scriptedToolbox, type ScriptedToolbox } from '../test/support/adapter-contract/scripted-toolbox.ts';

/** Inputs of an agent in a scene, for any loop. */
interface Stage {
  readonly client: OpenAI;
  readonly prompt: string;
  /** Of the agent below only. */
  readonly instructions: string | undefined;
  readonly tools: ScriptedToolbox;
  readonly steering: OpenAiSteering | undefined;
  readonly signal: AbortSignal;
}

interface StageOptions {
  /** The class of the client, of whichever version. */
  readonly Client: typeof OpenAI;
  readonly onToolError: 'throw' | 'result';
  /** Content of a request of this API. */
  readonly readRequest: (raw: string) => NeutralRequest;
}

/** Plays a scene against a fake model server, with the steering of the scene where it has one, and says how it ended. */
export async function onStage(
  scene: AdapterScene,
  { Client, onToolError, readRequest }: StageOptions,
  play: (stage: Stage) => Promise<{ readonly text: string; readonly history: string }>,
): Promise<AdapterOutcome> {
  const { server, signal } = await startSceneServer(scene);
  const steering = scene.run === undefined ? undefined : openaiSteering(scene.run, { ...scene.adapter, onToolError });
  const idle = scene.idleHooks === true ? { fetch: idleFetch } : {};
  const client = new Client({
    baseURL: `${server.url}/v1`,
    apiKey: 'none',
    maxRetries: 0,
    ...(steering === undefined ? idle : { fetch: steering.fetch() }),
  });
  const tools = withBelow(scene, async ({ instructions, prompt }) => {
    const stage = { client, prompt, instructions, tools: scriptedToolbox(scene.tools), steering, signal };
    return (await play(stage)).text;
  });
  try {
    const stage = { client, prompt: scene.prompt, instructions: undefined, tools, steering, signal };
    const answer = await play(stage).then(
      ({ text, history }) => ({ ended: 'normally' as const, finalText: text, storedHistory: history }),
      (error: unknown) => ({ ended: { error: messageOf(error) }, finalText: '' }),
    );
    const requests = server.mainRequests().map(({ raw }) => readRequest(raw));
    return { ...answer, requests, toolRuns: tools.runs };
  } finally {
    await scene.run?.end();
    await server.close();
  }
}

/** A fetch around the platform's that does nothing. */
async function idleFetch(...given: Parameters<typeof fetch>): Promise<Response> {
  return await fetch(...given);
}
