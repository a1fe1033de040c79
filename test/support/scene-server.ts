import { abortReasonOf } from './adapter-contract/contract-scenes.ts';
import type { AdapterScene } from './adapter-contract/adapter-harness.ts';
import type { FakeModelServer } from '../../src/testing/model-script.ts';
import { startFakeOpenAiServer } from '../../src/testing/fake-openai-server.ts';

/** A fake of OpenAI's API that plays the model of a scene, and the signal by which the scene's user aborts. */
export async function startSceneServer(
  scene: AdapterScene,
): Promise<{ readonly server: FakeModelServer; readonly signal: AbortSignal }> {
  const controller = new AbortController();
  const server = await startFakeOpenAiServer({
    script: scene.script,
    answerAfterMs: scene.answerAfterMs ?? 0,
    onRequest: ({ mainIndex }) => {
      if (mainIndex === scene.abortAtRequest) controller.abort(abortReasonOf(scene));
    },
  });
  return { server, signal: controller.signal };
}
