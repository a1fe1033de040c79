import type { Clock } from '../base/clock.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import { type ResolvedSteering, resolveSteering } from '../steering/resolve-steering.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
import type { TrajectoryStore } from '../store/trajectory-store.ts';
import { RunStepper, type FarBehind, type OpenedRun, type RebuiltRun } from './run-step.ts';
import type { Run } from './run.ts';
import type { Redactor } from '../redact/redactor.ts';

/** Maximum size of a saved state. Detectors and slices bound their state, so only states of a host's own code are larger. */
const MAX_STATE_CHARS = 8 * 1024 * 1024;

/** The state is saved only after more records than this. Folding a record takes about 20 µs. */
const MIN_UNSAVED_RECORDS = 200;

/** Characters of state that are written at most per new record. */
const STATE_CHARS_PER_RECORD = 200;

const MAX_CATCH_UPS = 5;

interface StoredRunsOptions {
  readonly store: TrajectoryStore;
  readonly steering: SteeringOptions;
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly measureMs: () => number;
}

interface ContinuedRun extends OpenedRun {
  readonly steering: ResolvedSteering;
}

export class StoredRuns {
  readonly #options: StoredRunsOptions;

  constructor(options: StoredRunsOptions) {
    this.#options = options;
  }

  /** Undefined if the run is not stored. Throws as `store.transact`. Cost: 20 µs per record since the state, in parts of 100. */
  async open(runId: string, prompts: readonly PromptTemplate[]): Promise<ContinuedRun | undefined> {
    const { steering: options, store } = this.#options;
    const stepper = this.#stepperOf(prompts);
    let rebuiltRun: RebuiltRun<null> | undefined;
    for (let attempt = 0; ; attempt += 1) {
      const isLast = attempt >= MAX_CATCH_UPS;
      const opened = await store.transact<OpenedRun | FarBehind<null> | undefined>(runId, (view) => ({
        records: [],
        result: stepper.open(view, rebuiltRun, isLast),
      }));
      if (opened === undefined) return undefined;
      if ('fold' in opened) return { ...opened, steering: resolveSteering(options, prompts[0]) };
      rebuiltRun = await stepper.catchUp(opened, (query) => store.readRun(runId, query), letOthersRun);
    }
  }

  /** Saves if enough records were added, by no other process, after `savedSeq`: that of the stored state, or -1. */
  saverOf(runId: string, prompts: readonly PromptTemplate[], savedSeq: number): (run: Run) => Promise<void> {
    const { store } = this.#options;
    let coversSeq = savedSeq;
    let minRecords = MIN_UNSAVED_RECORDS;
    let stepper: RunStepper<null> | undefined;
    return async (run) => {
      if (run.durableSeq - coversSeq < minRecords) return;
      const snapshot = run.snapshot({ shared: true });
      const state = (stepper ??= this.#stepperOf(prompts)).save(snapshot, null);
      const { length } = JSON.stringify(state);
      minRecords = Math.max(MIN_UNSAVED_RECORDS, length / STATE_CHARS_PER_RECORD);
      if (length > MAX_STATE_CHARS || run.durableSeq - coversSeq < minRecords) return;
      // The state is not saved if another process has added records, because the state lacks those records.
      const isSaved = await store.transact(runId, ({ nextSeq }) =>
        nextSeq === snapshot.next_seq ? { records: [], snapshot: state, result: true } : { records: [], result: false },
      );
      if (isSaved) coversSeq = snapshot.next_seq - 1;
    };
  }

  #stepperOf(prompts: readonly PromptTemplate[]): RunStepper<null> {
    const { steering, ...options } = this.#options;
    const { configurationHash } = resolveSteering(steering, prompts[0]);
    const host = { initial: null, fold: () => null };
    return new RunStepper<null>({ ...options, steering, prompts, host, build: `openRun ${configurationHash}` });
  }
}

/** Resolves after the pending work of the event loop, on every runtime. */
async function letOthersRun(): Promise<void> {
  await new Promise<void>((resolve) => {
    setTimeout(resolve, 0);
  });
}
