import { messageOf } from '../src/core/base/error.ts';
import type { FakeModelServer } from '../src/testing/model-script.ts';
import type { AdapterOutcome, AdapterScene, NeutralRequest } from '../test/support/adapter-contract/adapter-harness.ts';
import type { ScriptedToolbox } from '../test/support/adapter-contract/scripted-toolbox.ts';

/** What an SDK returned: the text of the last answer, and its history as JSON. */
export interface Played {
  readonly text: string;
  readonly history: string;
}

/** Plays the main agent of a scene to its end, ends the run, closes the server, and says how it ended. */
export async function playToEnd(
  { run }: AdapterScene,
  stage: {
    readonly server: FakeModelServer;
    readonly tools: ScriptedToolbox;
    /** Content of a request of this API. */
    readonly readRequest: (raw: string) => NeutralRequest;
  },
  play: () => Promise<Played>,
): Promise<AdapterOutcome> {
  const { readRequest, server, tools } = stage;
  try {
    const answer = await play().then(
      ({ text, history }) => ({ ended: 'normally' as const, finalText: text, storedHistory: history }),
      (error: unknown) => ({ ended: { error: messageOf(error) }, finalText: '' }),
    );
    const requests = server.mainRequests().map(({ raw }) => readRequest(raw));
    return { ...answer, requests, toolRuns: tools.runs };
  } finally {
    await run?.end();
    await server.close();
  }
}
