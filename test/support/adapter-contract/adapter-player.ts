import type { BudgetUsage } from '../../../src/core/base/budget.ts';
import type { Coxswain, CoxswainOptions, RunOptions } from '../../../src/core/run/coxswain.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../../src/core/records/trajectory-record.ts';
import type { Run } from '../../../src/core/run/run.ts';
import { memoryStore } from '../../../src/core/store/memory-store.ts';
import type { AdapterHarness, AdapterOutcome, AdapterScene } from './adapter-harness.ts';
import type { SteeringOptions } from '../../../src/core/steering/steering-options.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { listAll, readAll } from '../script-records.ts';

/** A scene without the run to steer. */
export type Scene = Omit<AdapterScene, 'run'>;

/** The outcome of a scene played with coxswain, and its records. */
export interface Played extends AdapterOutcome {
  /** The records of the run, in order. */
  readonly records: readonly TrajectoryRecord[];
  /** The records of descendant runs, such as subagents, by run id. */
  readonly children: ReadonlyMap<string, readonly TrajectoryRecord[]>;
  /** False if the adapter did not end the run, so that the player ended it. */
  readonly endedByAdapter: boolean;
  readonly faults: number;
  /** The value of `run.usage`. */
  readonly usage: BudgetUsage;
}

/** The default steering of a scene, which produces no advice. */
export const SCENE_STEERING: SteeringOptions = {
  feedback: [],
  guidance: [],
  cadence: 'per-provider',
  delivery: 'all',
};

const SCENE_RUN_ID = 'scene';

/**
 * Plays a scene with coxswain on a stopped clock and reads the records.
 *
 * @param steering  default: no advice
 */
export async function playScene(
  harness: AdapterHarness,
  scene: Scene,
  steering: CoxswainOptions = {},
  started: RunOptions = {},
): Promise<Played> {
  // Most tests of a host need no run, and the library takes longer to load than Node.
  const { createCoxswain } = await import('../../../src/core/run/coxswain.ts');
  const store = memoryStore();
  const cox = createCoxswain({
    store,
    clock: createFakeClock(),
    ...SCENE_STEERING,
    ...steering,
  });
  const run = cox.startRun({ runId: SCENE_RUN_ID, task: scene.prompt, ...started });
  const outcome = await harness.run({ ...scene, run });
  const endedByAdapter = await endRun(cox, run);
  const byRun = new Map<string, readonly TrajectoryRecord[]>();
  for (const { runId } of await listAll(store)) byRun.set(runId, await readAll(store, runId));
  const records = byRun.get(SCENE_RUN_ID) ?? [];
  byRun.delete(SCENE_RUN_ID);
  return { ...outcome, records, children: byRun, endedByAdapter, faults: cox.health().faults, usage: run.usage };
}

async function endRun(cox: Coxswain, run: Run): Promise<boolean> {
  const endedByAdapter = run.isEnded;
  if (!endedByAdapter) run.emit({ type: 'agent_end', outcome: 'left open' });
  await cox.flush();
  return endedByAdapter;
}

/** Returns the payloads of one kind, in order. */
export function payloadsOf<Kind extends TrajectoryPayload['kind']>(
  records: readonly TrajectoryRecord[],
  kind: Kind,
): readonly Extract<TrajectoryPayload, { readonly kind: Kind }>[] {
  return records.flatMap(({ payload }) =>
    // The kind was checked.
    payload.kind === kind ? [payload as Extract<TrajectoryPayload, { readonly kind: Kind }>] : [],
  );
}
