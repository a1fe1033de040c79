import { createCoxswain, type CoxswainOptions } from '../src/core/run/coxswain.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import type { Run } from '../src/core/run/run.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { startFakeOpenAiServer } from '../src/testing/fake-openai-server.ts';
import type { FakeModelServer, ModelFunction, ModelScript } from '../src/testing/model-script.ts';
import { listAll, readAll } from '../test/support/script-records.ts';

/** A run beside a fake OpenAI server, for what an SDK does that the contract does not ask of every adapter. */
export interface OpenAiScene {
  readonly run: Run;
  readonly server: FakeModelServer;
  /** Base URL of the fake API. */
  readonly baseURL: string;
  /** Ends the run and gives what was recorded: of the run itself, and of the runs below it in order. */
  readonly records: () => Promise<{
    readonly own: readonly TrajectoryRecord[];
    readonly below: readonly (readonly TrajectoryRecord[])[];
  }>;
  readonly faults: () => number;
}

/** Plays `body` with a run and a scripted model, and frees both. */
export async function withOpenAi(
  script: ModelScript | ModelFunction,
  steering: CoxswainOptions,
  body: (scene: OpenAiScene) => Promise<void>,
): Promise<void> {
  const server = await startFakeOpenAiServer({ script });
  const store = memoryStore();
  let ids = 0;
  const newRunId = (): string => `run-${(ids += 1)}`;
  const cox = createCoxswain({ store, newRunId, feedback: [], guidance: [], delivery: 'all', ...steering });
  const run = cox.startRun();
  try {
    await body({
      run,
      server,
      baseURL: `${server.url}/v1`,
      async records() {
        await run.end();
        await cox.flush();
        const below: (readonly TrajectoryRecord[])[] = [];
        const runs = (await listAll(store)).map(({ runId }) => runId).toSorted();
        for (const runId of runs) if (runId !== run.id) below.push(await readAll(store, runId));
        return { own: await readAll(store, run.id), below };
      },
      faults: () => cox.health().faults,
    });
  } finally {
    await server.close();
  }
}
