import { messageOf } from '../../src/core/base/error.ts';
import type { AdapterHarness, AdapterOutcome, AdapterScene } from './adapter-contract/adapter-harness.ts';
import type { Run } from '../../src/core/run/run.ts';
import { HANDOVER, withBelow } from './with-below.ts';
import { startSceneServer } from './scene-server.ts';
import { neutralChatRequest } from './adapter-contract/neutral-request.ts';
import { runPlainAgent, type PlainAgentHooks } from './plain-agent.ts';
import { scriptedToolbox } from './adapter-contract/scripted-toolbox.ts';
import { PLAIN_AGENT_CAPABILITIES, steerPlainAgent } from './steer-plain-agent.ts';

/** The adapter of the plain agent under the contract: an example of a harness. */
export const plainAgentHarness: AdapterHarness = plainHarness(steerPlainAgent);

/** The same with another adapter. */
export function plainHarness(steer: typeof steerPlainAgent): AdapterHarness {
  return {
    name: 'plain agent',
    capabilities: PLAIN_AGENT_CAPABILITIES,
    skips: { [HANDOVER]: 'it hands no task over' },
    // Its hook has the messages of a request, not its model and tools.
    seesNoRequests: true,
    run: (scene) => playPlainAgent(scene, steer),
  };
}

async function playPlainAgent(scene: AdapterScene, steer: typeof steerPlainAgent): Promise<AdapterOutcome> {
  const { server, signal } = await startSceneServer(scene);
  const hooksOf = (run: Run | undefined): PlainAgentHooks => {
    const steering = run === undefined ? {} : steer(run, { ...scene.adapter, forceTurn: scene.forceTurn === true });
    return scene.userHookThrows === true ? withThrowing(steering) : steering;
  };
  const tools = withBelow(scene, async ({ instructions, name, prompt }) => {
    const hooks = hooksOf(scene.run?.child({ agentName: name }));
    const request = { prompt: `${instructions} ${prompt}`, tools: scriptedToolbox(scene.tools) };
    return await runPlainAgent({ url: server.url, ...request, hooks, signal });
  });
  try {
    const agentOptions = { url: server.url, prompt: scene.prompt, tools, hooks: hooksOf(scene.run), signal };
    const answer = await runPlainAgent(agentOptions).then(
      (finalText) => ({ ended: 'normally', finalText }) as const,
      (error: unknown) => ({ ended: { error: messageOf(error) }, finalText: '' }),
    );
    const requests = server.mainRequests().map(({ raw }) => neutralChatRequest(raw));
    return { ...answer, requests, toolRuns: tools.runs };
  } finally {
    await server.close();
  }
}

/** A user's own hook beside the adapter's, which throws. */
function withThrowing(hooks: PlainAgentHooks): PlainAgentHooks {
  return {
    ...hooks,
    onAnswer: (answer) => {
      hooks.onAnswer?.(answer);
      throw new Error('the hook of the user is broken');
    },
  };
}
