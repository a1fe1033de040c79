import { present, isJsonObject, type Json } from '../base/json.ts';
import { addUsage, type BudgetUsage } from '../base/budget.ts';
import type { Clock } from '../base/clock.ts';
import { invalidArgument } from '../base/error.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import { type ResolvedSteering, resolveSteering } from '../steering/resolve-steering.ts';
import { RunLog, type RunLogIdentity } from '../recorder/run-log.ts';
import { isDerived } from '../records/derived-payload.ts';
import { RunFamily } from './run-family.ts';
import { RunFold, type RunFoldSnapshot } from './run-fold.ts';
import type { ChildOptions } from './run-options.ts';
import { runStarted } from './run-situation.ts';
import { Run, type RunSnapshot } from './run.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
import { lastSeqOf, type RunSummary } from '../facts/run-summary.ts';
import type { ReadQuery, RunChange, StoredRun } from '../store/trajectory-store.ts';
import type { Redactor } from '../redact/redactor.ts';

/** Additional state of the host. It is computed from the records of the run, so it is reproducible. */
export interface HostFold<State extends Json> {
  readonly initial: State;
  fold(state: State, record: TrajectoryRecord): State;
}

export interface RunStepOptions<State extends Json> {
  readonly steering: SteeringOptions;
  readonly redactor: Pick<Redactor, 'redact' | 'words'>;
  readonly clock: Clock;
  readonly host: HostFold<State>;
  /** Identifies the build. A snapshot of another build is not used, and the run is rebuilt from its records. */
  readonly build: string;
  /** A monotonic clock in milliseconds that detects slow providers. Default: slow providers are not detected. */
  readonly measureMs?: () => number;
  /** Every prompt of the runs. If a record names no prompt, the first one is active. Default: no prompts. */
  readonly prompts?: readonly PromptTemplate[];
}

export interface RunStepWork<State extends Json, Result> {
  readonly identity: RunLogIdentity;
  /** Options for a run that is not stored. Undefined: the run does not start yet, and `work` is not called. */
  begin(state: State): ChildOptions | undefined;
  work(run: Run, state: () => State): Result;
  /** Changes the host's state without a record, even if the run does not start yet. Default: no change. */
  remember?(state: State): State;
  /** Usage of the shared budget by other runs that is not in the records. Default: none. */
  readonly others?: BudgetUsage | undefined;
  /** Set for an input that is folded some time after it arrived. Default: the input arrives now. */
  readonly late?: LateInput | undefined;
  /** Returns true to skip the step, for example if the run has already processed the input. Default: false. */
  passes?(state: State): boolean;
}

export interface LateInput {
  /** Unique; stored in every record of the input. */
  readonly id: string;
  /** Unix milliseconds. The records get this time, or the time of the run's last record if that is later. */
  readonly arrivedAtMs: number;
}

export interface RunStepResult<Result> {
  /** The result of `work`. Undefined if the run has not started. */
  readonly result: Result | undefined;
  readonly faults: readonly string[];
}

export interface RebuiltRun<State extends Json> {
  readonly snapshot: RunFoldSnapshot;
  readonly state: State;
  readonly ended: boolean;
  readonly throughSeq: number;
}

interface StepSnapshot<State extends Json> {
  readonly schema_version: 1;
  readonly build: string;
  readonly run: RunSnapshot | null;
  readonly host: State;
}

interface Restored<State extends Json> {
  readonly fold: RunFold;
  readonly state: State;
  readonly ended: boolean;
}

export interface OpenedRun extends Omit<Restored<Json>, 'state'> {
  readonly summary: RunSummary;
  readonly nextSeq: number;
  /** Last `seq` of the saved snapshot; -1 without one. */
  readonly snapshotSeq: number;
}

/** Thrown by a step if the snapshot of the run is unusable. Call `rebuild`, then repeat the step. */
export class UnusableSnapshot extends Error {
  override readonly name = 'UnusableSnapshot';
  readonly nextSeq: number;

  constructor(nextSeq: number) {
    super('the saved state of a run is of another version or damaged');
    this.nextSeq = nextSeq;
  }
}

/** A run whose records are too many for a transaction. Call `catchUp` with `from`, then open the run again. */
export interface FarBehind<State extends Json> {
  readonly from: RebuiltRun<State>;
  readonly nextSeq: number;
}

/** Maximum number of records that `open` folds inside a transaction: about 4 ms. */
const MAX_OPENED_RECORDS = 200;

/** A rebuild folds this many records, about 2 ms, before it lets the host continue. */
const RECORDS_A_TURN = 100;

/** Maximum number of records in a rebuild: the first record and the last ones. Each takes about 20 µs. */
const MAX_REBUILT_RECORDS = 20_000;

/**
 * A step inside `store.transact` restores the run after its last record from any process, calls `work`, and returns the
 * new records and state; the advice is that of a live run. Pure and synchronous: no model-backed classifier could
 * respond in time. Cost: O(size of the state), plus `work`, plus folding what other processes stored.
 */
export class RunStepper<State extends Json> {
  readonly #options: RunStepOptions<State>;
  readonly #steering: ResolvedSteering;

  constructor(options: RunStepOptions<State>) {
    this.#options = options;
    this.#steering = resolveSteering(options.steering, options.prompts?.[0]);
  }

  /** Inside a transaction. Throws UnusableSnapshot if the snapshot is unusable and not replaced by `rebuilt`. */
  step<Result>(
    view: StoredRun,
    work: RunStepWork<State, Result>,
    rebuilt?: RebuiltRun<State>,
  ): RunChange<RunStepResult<Result>> {
    const records: TrajectoryRecord[] = [];
    const faults: string[] = [];
    const restored = this.#restoreRun(view, rebuilt);
    if (work.passes?.(restored.state) === true) return { records, result: { result: undefined, faults } };
    let state = work.remember?.(restored.state) ?? restored.state;
    const isChanged = state !== restored.state;
    const startWork = view.summary === undefined ? work.begin(state) : {};
    if (startWork === undefined) {
      const savedSnapshot = isChanged ? { snapshot: this.#snapshotOf(null, state) } : {};
      return { records, ...savedSnapshot, result: { result: undefined, faults } };
    }
    const { late } = work;
    const clock = late === undefined ? this.#options.clock : { nowMs: () => late.arrivedAtMs };
    const log = new RunLog(work.identity, {
      clock,
      lateInputId: late?.id,
      redact: this.#options.redactor.redact,
      nextSeq: view.nextSeq,
      lastMs: view.summary?.lastAtMs ?? 0,
      onInputFault: (message) => faults.push(message),
      queue: {
        add: (record) => {
          records.push(record);
          state = this.#options.host.fold(state, record);
          return 'accepted';
        },
      },
    });
    const run = this.#stepRun(log, restored, faults, work.others);
    if (view.summary === undefined) {
      const nowMs = clock.nowMs();
      run.begin(runStarted(startWork, { identity: work.identity, steering: this.#steering, nowMs }));
    }
    const result = work.work(run, () => state);
    const outcome = { result, faults };
    const isSaved = rebuilt === undefined && view.nextSeq === view.snapshotSeq + 1;
    if (records.length === 0 && isSaved && !isChanged) return { records, result: outcome };
    return { records, snapshot: this.#snapshotOf(run.snapshot({ shared: true }), state), result: outcome };
  }

  /**
   * Undefined if the run is not stored.
   *
   * @param rebuilt  the state after an earlier record, from `catchUp`
   * @param takesAll  folds any number of records; default: at most 200
   * @returns `FarBehind` if more records follow the state
   */
  open(view: StoredRun, rebuilt?: RebuiltRun<State>, takesAll = false): OpenedRun | FarBehind<State> | undefined {
    const { nextSeq, snapshotSeq, summary } = view;
    if (summary === undefined) return undefined;
    const isNewer = rebuilt !== undefined && rebuilt.throughSeq >= snapshotSeq;
    const savedRun = isNewer ? undefined : this.#fromSnapshot(view);
    const run = savedRun ?? this.#restoredFrom(rebuilt);
    const throughSeq = savedRun === undefined ? (rebuilt?.throughSeq ?? -1) : snapshotSeq;
    if (throughSeq < snapshotSeq || (nextSeq - throughSeq - 1 > MAX_OPENED_RECORDS && !takesAll)) {
      return { from: rebuiltFrom(run, throughSeq), nextSeq };
    }
    const { ended, fold } = this.#foldMissed(view, run, throughSeq);
    return { ended, fold, nextSeq, summary, snapshotSeq };
  }

  /**
   * Outside of a transaction; lets the host continue after every 100 records. Unreadable records are left out.
   *
   * @param read  as `store.readRun`
   * @param letOthersRun  resolves after the host's pending work
   */
  async catchUp(
    { from, nextSeq }: FarBehind<State>,
    read: (query: ReadQuery) => AsyncIterable<TrajectoryRecord>,
    letOthersRun: () => Promise<void>,
  ): Promise<RebuiltRun<State>> {
    let run = this.#restoredFrom(from);
    let { throughSeq } = from;
    let folded = 0;
    try {
      // A bound, because another process may store records faster than this one folds them.
      for await (const record of read({ fromSeq: throughSeq + 1, limit: nextSeq - throughSeq - 1 })) {
        run = this.#takeIn(record, run);
        throughSeq = lastSeqOf(record);
        folded += 1;
        if (folded % RECORDS_A_TURN === 0) await letOthersRun();
      }
    } catch {
      // As in `rebuild`.
      throughSeq = Math.max(throughSeq, nextSeq - 1);
    }
    return rebuiltFrom(run, throughSeq);
  }

  save(run: RunSnapshot, state: State): Json {
    return this.#snapshotOf(run, state);
  }

  /** Returns the host's state after the last record. Undefined if there is no usable snapshot. */
  hostState(view: StoredRun): State | undefined {
    const savedState = savedBy<State>(view, this.#options.build);
    if (savedState === undefined || view.nextSeq <= view.snapshotSeq + 1) return savedState?.host;
    return view.missed().reduce((state, record) => this.#options.host.fold(state, record), savedState.host);
  }

  /** Outside of a transaction, from the first record (as `store.readRun`) and the last 20,000, without unreadable ones. */
  async rebuild(
    nextSeq: number,
    read: (query: ReadQuery) => AsyncIterable<TrajectoryRecord>,
  ): Promise<RebuiltRun<State>> {
    let run = this.#restoredFrom();
    const fromSeq = Math.max(0, nextSeq - MAX_REBUILT_RECORDS);
    try {
      if (fromSeq > 0) for await (const record of read({ limit: 1 })) run = this.#takeIn(record, run);
      for await (const record of read({ fromSeq })) {
        run = this.#takeIn(record, run);
        nextSeq = Math.max(nextSeq, lastSeqOf(record) + 1);
      }
    } catch {
      // A record is damaged, which `verify` reports. A run without that record is better than no run.
    }
    return rebuiltFrom(run, nextSeq - 1);
  }

  #restoreRun(view: StoredRun, rebuilt: RebuiltRun<State> | undefined): Restored<State> {
    let run = this.#fromSnapshot(view);
    let throughSeq = view.snapshotSeq;
    if (run === undefined && view.snapshotSeq < 0) run = this.#restoredFrom();
    // The view contains only records after the last snapshot.
    if (run === undefined && rebuilt !== undefined && rebuilt.throughSeq >= view.snapshotSeq) {
      run = this.#restoredFrom(rebuilt);
      throughSeq = rebuilt.throughSeq;
    }
    if (run === undefined) throw new UnusableSnapshot(view.nextSeq);
    return this.#foldMissed(view, run, throughSeq);
  }

  #foldMissed(view: StoredRun, restored: Restored<State>, throughSeq: number): Restored<State> {
    if (view.nextSeq <= throughSeq + 1) return restored;
    let run = restored;
    for (const record of view.missed(throughSeq)) run = this.#takeIn(record, run);
    return run;
  }

  /** Returns undefined if there is no usable snapshot. */
  #fromSnapshot(view: StoredRun): Restored<State> | undefined {
    const savedState = savedBy<State>(view, this.#options.build);
    if (savedState === undefined) return undefined;
    const { run, host } = savedState;
    try {
      return this.#restoredFrom(
        { state: host, ...(run === null ? {} : { snapshot: run.fold, ended: run.ended }) },
        true,
      );
    } catch {
      return undefined;
    }
  }

  #restoredFrom(rebuilt: Partial<RebuiltRun<State>> = {}, adopt = false): Restored<State> {
    const { measureMs } = this.#options;
    const fold = new RunFold({
      steering: this.#steering,
      prompts: this.#options.prompts ?? [],
      redactor: this.#options.redactor,
      ...(rebuilt.snapshot === undefined ? {} : { snapshot: rebuilt.snapshot, adopt }),
      ...present({ measureMs }),
    });
    return { fold, state: rebuilt.state ?? this.#options.host.initial, ended: rebuilt.ended ?? false };
  }

  #takeIn(record: TrajectoryRecord, restored: Restored<State>): Restored<State> {
    if (!isDerived(record.payload)) restored.fold.fold(record);
    const { kind } = record.payload;
    const hasEnded = kind === 'run_ended' || (restored.ended && kind !== 'run_resumed');
    return { ...restored, state: this.#options.host.fold(restored.state, record), ended: hasEnded };
  }

  #stepRun(log: RunLog, { fold, ended }: Restored<State>, faults: string[], others: BudgetUsage = {}): Run {
    return new Run({
      log,
      fold,
      mode: this.#steering.mode,
      models: [],
      providerTimeLimitMs: this.#steering.providerTimeLimitMs,
      flush: () => Promise.resolve('stored'),
      ready: () => Promise.resolve(true),
      durableSeq: () => -1,
      isShared: false,
      lostRecords: () => 0,
      // Counted by the process that owns the run; a step ends before anybody could ask.
      onProvider: () => undefined,
      family: (member) =>
        new RunFamily(member, { sharesBudget: false, below: addUsage(fold.situation.below ?? {}, others) }),
      startChild: () => {
        throw invalidArgument('a stepped run cannot start children; step them instead');
      },
      onFault: (message) => faults.push(message),
      onResumed: () => undefined,
      onDelta: () => undefined,
      listen: () => () => undefined,
      ended,
    });
  }

  #snapshotOf(run: RunSnapshot | null, host: State): Json {
    const snapshot: StepSnapshot<State> = { schema_version: 1, build: this.#options.build, run, host };
    // Snapshots and the host's state are plain JSON by their types.
    return snapshot as unknown as Json;
  }
}

function savedBy<State extends Json>(view: StoredRun, build: string): StepSnapshot<State> | undefined {
  const snapshot = view.snapshot;
  if (!isJsonObject(snapshot) || snapshot['schema_version'] !== 1 || snapshot['build'] !== build) return undefined;
  // This build wrote the value, so it has the shape of `#snapshotOf`.
  return snapshot as unknown as StepSnapshot<State>;
}

function rebuiltFrom<State extends Json>(
  { ended, fold, state }: Restored<State>,
  throughSeq: number,
): RebuiltRun<State> {
  return { snapshot: fold.snapshot(), state, ended, throughSeq };
}
