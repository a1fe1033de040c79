import { present } from '../base/present.ts';
import { addUsage, type BudgetUsage } from '../base/budget.ts';
import type { Clock } from '../base/clock.ts';
import { CoxswainError } from '../base/error.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../records/trajectory-record.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import { type ResolvedSteering, resolveSteering } from '../steering/resolve-steering.ts';
import { RunLog, type RunLogIdentity } from '../recorder/run-log.ts';
import { isDerived } from '../records/is-derived.ts';
import { RunFamily } from './run-family.ts';
import { RunFold, type RunFoldSnapshot } from './run-fold.ts';
import type { ChildOptions } from './run-options.ts';
import { runStarted } from './run-started.ts';
import type { RunSnapshot } from './run-snapshot.ts';
import { Run } from './run.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
import { lastSeqOf, type RunSummary } from '../store/run-summary.ts';
import type { ReadQuery, RunChange, StoredRun } from '../store/trajectory-store.ts';

/** State of the host's own beside that of the run: folded from the same records, so that it can be made anew from them. */
export interface HostFold<State extends Json> {
  readonly initial: State;
  /** Pure. */
  fold(state: State, record: TrajectoryRecord): State;
}

/** How steps of runs are made: the same for every step of a process. */
export interface RunStepOptions<State extends Json> {
  readonly steering: SteeringOptions;
  /** What of a payload may be stored. */
  readonly redact: (payload: TrajectoryPayload) => TrajectoryPayload;
  readonly clock: Clock;
  readonly host: HostFold<State>;
  /** Tells builds apart: a snapshot of another one is not trusted, the run is folded anew from its records. */
  readonly build: string;
  /** A steady clock in milliseconds, to notice slow providers; default: they are not noticed. */
  readonly measureMs?: () => number;
  /** Every prompt that the runs use; the first is in force where a record names none. Default: none. */
  readonly prompts?: readonly PromptTemplate[];
}

/** One step: what happens to one run. */
export interface RunStepWork<State extends Json, Result> {
  readonly identity: RunLogIdentity;
  /** How the run begins if it is not stored; undefined: it does not begin yet, and `work` is not called. */
  begin(state: State): ChildOptions | undefined;
  /** Told of the run as it is now. @param state  the host's, which follows what the run takes */
  work(run: Run, state: () => State): Result;
  /** Notes something in the host's state that no record says, also where the run does not begin yet; default: nothing. */
  remember?(state: State): State;
  /** What other runs used of the budget that this run draws on, besides the ends that its records tell of; default: nothing. */
  readonly others?: BudgetUsage | undefined;
  /** For an input that is folded later than it arrived; default: it arrives now. */
  readonly late?: LateInput | undefined;
  /** Whether nothing is to happen, such as for an input that the run has taken before; default: it is. */
  passes?(state: State): boolean;
}

/** An input that the store could not take when it arrived. */
export interface LateInput {
  /** Unique; every record that follows from the input carries it. */
  readonly id: string;
  /** Unix milliseconds. The records get this time, or that of the run's last record if that is later. */
  readonly arrivedAtMs: number;
}

/** What came of a step. */
export interface RunStepResult<Result> {
  /** Undefined when the run has not begun. */
  readonly result: Result | undefined;
  /** Faults of ours, which are on the log too. */
  readonly faults: readonly string[];
}

/** What a step gives its caller besides what is stored. */
export interface RunStepOutcome<State extends Json, Result> extends RunStepResult<Result> {
  /** The run after the step, for the next one; undefined when it has not begun. */
  readonly held?: RunInMemory<State>;
}

/**
 * A run as a step left it, for the next one in the same process, in place of its snapshot. Good for one step, which changes
 * it; and only where that step's records were stored.
 */
export interface RunInMemory<State extends Json> {
  /** Last `seq` that was folded. */
  readonly throughSeq: number;
  /** As of the summary: tells a run from one that was begun anew under its id. */
  readonly startedAtMs: number;
  readonly restored: Restored<State>;
}

/** Where a step may take a run from, other than from its snapshot. */
export interface RunStepSources<State extends Json> {
  /** Folded anew by `rebuild`, for when its snapshot cannot be used. */
  readonly rebuilt?: RebuiltRun<State> | undefined;
  /** What the step before it, in this process, gave; used where nobody has saved anything since that it does not know. */
  readonly held?: RunInMemory<State> | undefined;
}

/** A run's state from elsewhere than its snapshot. */
export interface RebuiltRun<State extends Json> {
  readonly snapshot: RunFoldSnapshot;
  readonly state: State;
  readonly ended: boolean;
  /** Last `seq` that was folded. */
  readonly throughSeq: number;
}

/** What a step saves. */
interface StepSnapshot<State extends Json> {
  readonly schema_version: 1;
  readonly build: string;
  /** Null while the run has not begun. */
  readonly run: RunSnapshot | null;
  readonly host: State;
}

/** A run in the middle of a step. */
interface Restored<State extends Json> {
  readonly fold: RunFold;
  readonly state: State;
  readonly ended: boolean;
  /** Told of a provider that takes too long; the run that is made from the fold sets it. */
  readonly overruns: { heard: (provider: string, durationMs: number) => void };
}

/** What a run in the middle of a step has to do with. */
interface RunSurroundings {
  /** Filled with faults of ours. */
  readonly faults: string[];
  readonly others: BudgetUsage | undefined;
}

/** A stored run, as it is continued outside of steps. */
export interface OpenedRun extends Pick<Restored<Json>, 'ended' | 'fold' | 'overruns'> {
  readonly summary: RunSummary;
  readonly nextSeq: number;
  /** Last `seq` that the saved snapshot covers; -1 without one. */
  readonly snapshotSeq: number;
}

/** Thrown by a step whose run has a snapshot that cannot be used: `rebuild`, then again. */
export class UnusableSnapshot extends Error {
  override readonly name = 'UnusableSnapshot';
  /** The `seq` of the run's next record. */
  readonly nextSeq: number;

  constructor(nextSeq: number) {
    super('the saved state of a run is of another version or damaged');
    this.nextSeq = nextSeq;
  }
}

/** Records that a run is folded anew from, at most: its first and its last ones. Some 20 µs each. */
const MAX_REBUILT_RECORDS = 20_000;

/**
 * Makes the folds of `store.transact` that take one step of a run: they restore the run as it was after its last record,
 * by whichever process, let `work` tell it what happened and ask it for advice, and give the records and the state that
 * are to be stored. The advice is the same as that of a live run, because it is one.
 *
 * Pure and synchronous. Model-backed classifiers are not asked: a step is over before they would answer.
 *
 * Cost: O(size of the state), plus the cost of what `work` does; also a fold of what others recorded meanwhile.
 */
export class RunStepper<State extends Json> {
  readonly #options: RunStepOptions<State>;
  readonly #steering: ResolvedSteering;

  /** @throws CoxswainError "invalid-argument" for a limit outside its range */
  constructor(options: RunStepOptions<State>) {
    this.#options = options;
    this.#steering = resolveSteering(options.steering, options.prompts?.[0]);
  }

  /**
   * One step, to be called in a transaction.
   *
   * @throws UnusableSnapshot when there is one that cannot be used, and `rebuilt` does not help
   */
  step<Result>(
    view: StoredRun,
    work: RunStepWork<State, Result>,
    sources: RunStepSources<State> = {},
  ): RunChange<RunStepOutcome<State, Result>> {
    const records: TrajectoryRecord[] = [];
    const faults: string[] = [];
    const before = this.#restore(view, sources);
    if (work.passes?.(before.state) === true) return { records, result: { result: undefined, faults } };
    const noted = work.remember?.(before.state) ?? before.state;
    const isNoted = noted !== before.state;
    let state = noted;
    const started = view.summary === undefined ? work.begin(state) : {};
    if (started === undefined) {
      const saved = isNoted ? { snapshot: this.#snapshot(null, state) } : {};
      return { records, ...saved, result: { result: undefined, faults } };
    }
    const { late } = work;
    const clock = late === undefined ? this.#options.clock : { nowMs: () => late.arrivedAtMs };
    const log = new RunLog(work.identity, {
      clock,
      lateInputId: late?.id,
      redact: this.#options.redact,
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
    const run = this.#run(log, before, { faults, others: work.others });
    if (view.summary === undefined) {
      const nowMs = clock.nowMs();
      run.begin(runStarted(started, { identity: work.identity, steering: this.#steering, nowMs }));
    }
    const result = work.work(run, () => state);
    const held: RunInMemory<State> = {
      throughSeq: log.nextSeq - 1,
      startedAtMs: view.summary?.startedAtMs ?? records[0]?.recorded_at_unix_ms ?? 0,
      restored: { ...before, state, ended: run.isEnded },
    };
    const isSaved = sources.rebuilt === undefined && view.nextSeq === view.snapshotSeq + 1;
    if (records.length === 0 && isSaved && !isNoted) return { records, result: { result, faults, held } };
    const snapshot = this.#snapshot(run.snapshot({ shared: true }), state);
    return { records, snapshot, result: { result, faults, held } };
  }

  /**
   * A stored run after its last record, to go on with outside of steps; undefined when it is not stored.
   *
   * @throws UnusableSnapshot as `step`
   */
  open(view: StoredRun, rebuilt?: RebuiltRun<State>): OpenedRun | undefined {
    const { nextSeq, snapshotSeq, summary } = view;
    if (summary === undefined) return undefined;
    const { ended, fold, overruns } = this.#restore(view, { rebuilt });
    return { ended, fold, overruns, nextSeq, summary, snapshotSeq };
  }

  /** What is saved of a run, as `step` saves it. */
  save(run: RunSnapshot, state: State): Json {
    return this.#snapshot(run, state);
  }

  /** The host's state after the last record; undefined when there is none saved that can be used. */
  hostState(view: StoredRun): State | undefined {
    const saved = savedBy<State>(view, this.#options.build);
    if (saved === undefined || view.nextSeq <= view.snapshotSeq + 1) return saved?.host;
    return view.missed().reduce((state, record) => this.#options.host.fold(state, record), saved.host);
  }

  /**
   * A run folded anew from its records, outside of a transaction: from all of them, or, where there are very many, from the
   * first and the last 20,000. What cannot be read is left out: the run goes on.
   *
   * @param read  the records of the run, as `store.readRun` gives them
   */
  async rebuild(
    nextSeq: number,
    read: (query: ReadQuery) => AsyncIterable<TrajectoryRecord>,
  ): Promise<RebuiltRun<State>> {
    let run = this.#restored();
    const fromSeq = Math.max(0, nextSeq - MAX_REBUILT_RECORDS);
    try {
      if (fromSeq > 0) for await (const record of read({ limit: 1 })) run = this.#takeIn(record, run);
      for await (const record of read({ fromSeq })) {
        run = this.#takeIn(record, run);
        nextSeq = Math.max(nextSeq, lastSeqOf(record) + 1);
      }
    } catch {
      // A damaged record: `verify` tells of it, and what was read until there is better than no run.
    }
    return { snapshot: run.fold.snapshot(), state: run.state, ended: run.ended, throughSeq: nextSeq - 1 };
  }

  #restore(view: StoredRun, { rebuilt, held }: RunStepSources<State>): Restored<State> {
    const isCurrent = held !== undefined && isOf(held, view);
    let run = isCurrent ? held.restored : this.#fromSnapshot(view);
    let throughSeq = isCurrent ? held.throughSeq : view.snapshotSeq;
    if (run === undefined && view.snapshotSeq < 0) run = this.#restored();
    // What others stored after the last snapshot is at hand, what was stored before it is not.
    if (run === undefined && rebuilt !== undefined && rebuilt.throughSeq >= view.snapshotSeq) {
      run = this.#restored(rebuilt);
      throughSeq = rebuilt.throughSeq;
    }
    if (run === undefined) throw new UnusableSnapshot(view.nextSeq);
    if (view.nextSeq <= throughSeq + 1) return run;
    for (const record of view.missed()) if (record.seq > throughSeq) run = this.#takeIn(record, run);
    return run;
  }

  /** Undefined: there is none, or it cannot be used. */
  #fromSnapshot(view: StoredRun): Restored<State> | undefined {
    const saved = savedBy<State>(view, this.#options.build);
    if (saved === undefined) return undefined;
    const { run, host } = saved;
    try {
      return this.#restored({ state: host, ...(run === null ? {} : { snapshot: run.fold, ended: run.ended }) }, true);
    } catch {
      return undefined;
    }
  }

  #restored(from: Partial<RebuiltRun<State>> = {}, adopt = false): Restored<State> {
    const { measureMs } = this.#options;
    const overruns: Restored<State>['overruns'] = { heard: () => undefined };
    const fold = new RunFold({
      steering: this.#steering,
      prompts: this.#options.prompts ?? [],
      redact: this.#options.redact,
      ...(from.snapshot === undefined ? {} : { snapshot: from.snapshot, adopt }),
      ...present({ measureMs }),
      onOverrun: (provider, durationMs) => overruns.heard(provider, durationMs),
    });
    return { fold, state: from.state ?? this.#options.host.initial, ended: from.ended ?? false, overruns };
  }

  /** Takes in what somebody recorded; what follows from it is on the log already. */
  #takeIn(record: TrajectoryRecord, before: Restored<State>): Restored<State> {
    if (!isDerived(record.payload)) before.fold.fold(record);
    const { kind } = record.payload;
    const ended = kind === 'run_ended' || (before.ended && kind !== 'run_resumed');
    return { ...before, state: this.#options.host.fold(before.state, record), ended };
  }

  #run(log: RunLog, { fold, ended, overruns }: Restored<State>, { faults, others = {} }: RunSurroundings): Run {
    return new Run({
      log,
      fold: (onOverrun) => {
        overruns.heard = onOverrun;
        return fold;
      },
      mode: this.#steering.mode,
      models: [],
      providerTimeLimitMs: this.#steering.providerTimeLimitMs,
      flush: () => Promise.resolve('stored'),
      ready: () => Promise.resolve(true),
      durableSeq: () => -1,
      family: (member) =>
        new RunFamily(member, { sharesBudget: false, below: addUsage(fold.situation.below ?? {}, others) }),
      startChild: () => {
        throw new CoxswainError('invalid-argument', 'a run that is stepped has no children of its own; step theirs');
      },
      onFault: (message) => faults.push(message),
      onResumed: () => undefined,
      onDelta: () => undefined,
      listen: () => () => undefined,
      ended,
    });
  }

  #snapshot(run: RunSnapshot | null, host: State): Json {
    const snapshot: StepSnapshot<State> = { schema_version: 1, build: this.#options.build, run, host };
    // Snapshots and the host's state are plain JSON by their types.
    return snapshot as unknown as Json;
  }
}

/** Whether a run in memory is at least as far as what is saved of it, and no other one under its id. */
function isOf({ throughSeq, startedAtMs }: RunInMemory<Json>, { nextSeq, snapshotSeq, summary }: StoredRun): boolean {
  return summary?.startedAtMs === startedAtMs && throughSeq >= snapshotSeq && throughSeq < nextSeq;
}

function savedBy<State extends Json>(view: StoredRun, build: string): StepSnapshot<State> | undefined {
  const saved = view.snapshot;
  if (!isJsonObject(saved) || saved['schema_version'] !== 1 || saved['build'] !== build) return undefined;
  // Written by this very build, so it has the shape that `#snapshot` gives.
  return saved as unknown as StepSnapshot<State>;
}
