import { aiSdkCapabilities } from '../src/adapters/ai-sdk/index.ts';
import type { AdapterHarness } from '../test/support/adapter-contract/adapter-harness.ts';
import { HANDOVER } from '../test/support/with-below.ts';
import { playAi, type AiScene } from './ai-scene.ts';

/** `generateText` and `streamText` of ai 7. */
export const harness: AdapterHarness = aiHarness('ai-sdk', {});

/** `ToolLoopAgent` of ai 7. */
export const agentHarness: AdapterHarness = aiHarness('ai-sdk, ToolLoopAgent', { entry: 'agent' });

/** `generateText` and `streamText` of ai 6. */
export const harness6: AdapterHarness = aiHarness('ai-sdk, ai 6', { version: 6 });

/** `ToolLoopAgent` of ai 6. */
export const agentHarness6: AdapterHarness = aiHarness('ai-sdk, ai 6, ToolLoopAgent', { version: 6, entry: 'agent' });

function aiHarness(name: string, variant: Pick<AiScene, 'entry' | 'version'>): AdapterHarness {
  return {
    name,
    capabilities: aiSdkCapabilities,
    skips: { [HANDOVER]: 'the SDK has no handoffs' },
    run: async (scene) => await playAi({ ...scene, ...variant }),
  };
}
