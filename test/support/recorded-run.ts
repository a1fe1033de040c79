import { createCoxswain, type CoxswainOptions } from '../../src/core/run/coxswain.ts';
import type { TrajectoryPayload } from '../../src/core/records/trajectory-record.ts';
import type { Run } from '../../src/core/run/run.ts';
import { memoryStore } from '../../src/core/store/memory-store.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { listAll, readAll } from './script-records.ts';

export interface RecordedRun {
  readonly run: Run;
  /** Payloads of one kind so far, in order. @param runId  default: of the run itself */
  readonly recorded: <Kind extends TrajectoryPayload['kind']>(
    kind: Kind,
    runId?: string,
  ) => Promise<readonly Extract<TrajectoryPayload, { readonly kind: Kind }>[]>;
  /** Ids of the runs below it, in the order of their start. */
  readonly below: () => Promise<readonly string[]>;
  /** Faults of coxswain so far. */
  readonly faults: () => number;
}

/** A run in memory on a clock that stands still. @param steering  default: no providers */
export function recordedRun(steering: CoxswainOptions = {}): RecordedRun {
  const store = memoryStore();
  let runs = 0;
  const newRunId = (): string => {
    runs += 1;
    return `run-${runs}`;
  };
  const cox = createCoxswain({ store, clock: createFakeClock(), newRunId, feedback: [], guidance: [], ...steering });
  const run = cox.startRun();
  return {
    run,
    async recorded(kind, runId = run.id) {
      await cox.flush();
      const payloads = (await readAll(store, runId)).map(({ payload }) => payload);
      // The filter is the proof.
      return payloads.filter((payload) => payload.kind === kind) as never;
    },
    async below() {
      await cox.flush();
      const ids = (await listAll(store)).map(({ runId }) => runId);
      return ids.filter((id) => id !== run.id).toSorted();
    },
    faults: () => cox.health().faults,
  };
}
