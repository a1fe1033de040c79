import type OpenAI from 'openai';

import { openaiSteering, type OpenAiSteering } from '../src/adapters/openai/index.ts';
import type { AdapterOutcome, AdapterScene, NeutralRequest } from '../test/support/adapter-contract/adapter-harness.ts';
import { playToEnd, type Played } from './play-to-end.ts';
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
  play: (stage: Stage) => Promise<Played>,
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
  return await playToEnd(scene, { server, tools, readRequest }, () =>
    play({ client, prompt: scene.prompt, instructions: undefined, tools, steering, signal }),
  );
}

/** A fetch around the platform's that does nothing. */
async function idleFetch(...given: Parameters<typeof fetch>): Promise<Response> {
  return await fetch(...given);
}
