import type { Clock } from '../base/clock.ts';
import { CoxswainError } from '../base/error.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import { type ResolvedSteering, resolveSteering } from '../steering/resolve-steering.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
import type { TrajectoryStore } from '../store/trajectory-store.ts';
import { RunStepper, UnusableSnapshot, type OpenedRun, type RebuiltRun } from './run-step.ts';
import type { Run } from './run.ts';

/** Maximum size of a saved state. A larger state is not saved, and the next process folds the records instead. */
const MAX_STATE_CHARS = 64 * 1024;

/** The state is saved only after more records than this. Folding a record takes about 20 µs. */
const RECORDS_UNSAVED = 200;

/** Maximum number of attempts, if other processes save unusable snapshots meanwhile. */
const MAX_REBUILDS = 3;

export interface StoredRunsOptions {
  readonly store: TrajectoryStore;
  readonly steering: SteeringOptions;
  readonly redact: (payload: TrajectoryPayload) => TrajectoryPayload;
  readonly clock: Clock;
  readonly measureMs: () => number;
}

/** A stored run, ready to be continued. */
export interface ContinuedRun extends OpenedRun {
  readonly steering: ResolvedSteering;
  /**
   * Saves the run's state for the next process. The state is saved only if that is worthwhile and no other process has
   * added records.
   */
  readonly save: (run: Run) => Promise<void>;
}

/** Restores runs of a store outside of steps. It uses their saved state and the later records. */
export class StoredRuns {
  readonly #options: StoredRunsOptions;

  constructor(options: StoredRunsOptions) {
    this.#options = options;
  }

  /**
   * Returns the stored run. Undefined if the run is not stored.
   *
   * @throws as `store.transact`
   *
   * Cost: folding at most 20,000 records since the state was saved, about 20 µs each.
   */
  async open(runId: string, prompts: readonly PromptTemplate[]): Promise<ContinuedRun | undefined> {
    const { clock, measureMs, redact, steering: options, store } = this.#options;
    const steering = resolveSteering(options, prompts[0]);
    const stepper = new RunStepper<null>({
      steering: options,
      prompts,
      redact,
      clock,
      measureMs,
      host: { initial: null, fold: () => null },
      build: `openRun ${steering.configurationHash}`,
    });
    const openedRun = await this.#openRun(runId, stepper);
    if (openedRun === undefined) return undefined;
    let savedSeq = openedRun.snapshotSeq;
    const saveSnapshot = async (run: Run): Promise<void> => {
      const snapshot = run.snapshot({ shared: true });
      if (snapshot.next_seq - savedSeq <= RECORDS_UNSAVED) return;
      const state = stepper.save(snapshot, null);
      if (JSON.stringify(state).length > MAX_STATE_CHARS) return;
      // The state is not saved if another process has added records, because the state lacks those records.
      const isSaved = await store.transact(runId, ({ nextSeq }) =>
        nextSeq === snapshot.next_seq ? { records: [], snapshot: state, result: true } : { records: [], result: false },
      );
      if (isSaved) savedSeq = snapshot.next_seq - 1;
    };
    return { ...openedRun, steering, save: saveSnapshot };
  }

  async #openRun(runId: string, stepper: RunStepper<null>): Promise<OpenedRun | undefined> {
    const { store } = this.#options;
    let rebuiltRun: RebuiltRun<null> | undefined;
    for (let rebuilds = 0; ; rebuilds += 1) {
      try {
        return await store.transact(runId, (view) => ({ records: [], result: stepper.open(view, rebuiltRun) }));
      } catch (error) {
        if (!(error instanceof UnusableSnapshot) || rebuilds >= MAX_REBUILDS) throw error;
        rebuiltRun = await stepper.rebuild(error.nextSeq, (query) => store.readRun(runId, query));
      }
    }
  }
}

export function runUnknown(runId: string): CoxswainError {
  const message = `no run ${JSON.stringify(runId)} is stored: pass start to openRun, or begin the run with startRun`;
  return new CoxswainError('run-unknown', message, { details: { runId } });
}
