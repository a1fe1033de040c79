import { present } from '../base/json.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { CoxswainError, invalidArgument } from '../base/error.ts';
import { LruMap } from '../base/lru-map.ts';
import type { InputCounts } from '../base/input-fault.ts';
import { type ResolvedSteering, resolveSteering } from '../steering/resolve-steering.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import { readResult } from '../steering/read-result.ts';
import { flushOnExit } from '../recorder/flush-on-exit.ts';
import type { RecordQueueOptions, FlushAnswer, TimeLimit, RecorderHealth } from '../recorder/record-queue-options.ts';
import { InputTally } from '../recorder/to-payload.ts';
import { RecordQueue } from '../recorder/record-queue.ts';
import { createFingerprint } from '../redact/fingerprint.ts';
import {
  createRedactor,
  NO_REDACTION,
  pricedRedactor,
  type RedactionOptions,
  type Redactor,
} from '../redact/redactor.ts';
import type { ModelPrices } from '../records/answer-cost.ts';
import { RunLog, type RunLogIdentity, type RunLogParts } from '../recorder/run-log.ts';
import { checkCoxswainOptions, checkRunOptions, type ChildOptions, type OpenRunOptions } from './run-options.ts';
import { Listeners, type EventSink, type ListenerHealth } from './listeners.ts';
import { inherit } from './inherit.ts';
import { RunFamily, type FamilyPlace } from './run-family.ts';
import { RunFold, type RunFoldOptions } from './run-fold.ts';
import { runExists, SharedRuns } from '../recorder/shared-runs.ts';
import { DEFAULT_PROMPT } from './run-speakers-by-prompt.ts';
import { runStarted } from './run-situation.ts';
import { Run, type RunParts, type RunSnapshot } from './run.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
import { storableRunId } from '../store/check-batch.ts';
import type { TrajectorySink, TrajectoryStore } from '../store/trajectory-store.ts';
import { StoredRuns } from './stored-runs.ts';
import type { ProviderRecord } from './run-path.ts';

function runUnknown(runId: string): CoxswainError {
  const message = `no run ${JSON.stringify(runId)} is stored: pass start to openRun, or begin the run with startRun`;
  return new CoxswainError('run-unknown', message, { details: { runId } });
}

/** Options of `createCoxswain`. If no steering option is set, `standardSteering()` is used. */
export interface CoxswainOptions extends SteeringOptions, RecordQueueOptions {
  /** Receives the records of runs; default: none does. `close()` closes it. `openRun` needs a store. */
  readonly store?: TrajectoryStore | TrajectorySink;
  /** Runs before any other code sees a record. Default: secrets; `false`: none. See docs/redaction.md. */
  readonly redaction?: RedactionOptions | false;
  /** US dollars per million tokens, by model id, beside the built-in table. They count for `budget.costUsd` and are recorded. */
  readonly prices?: ModelPrices;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Creates run ids; default: random UUIDs. */
  readonly newRunId?: () => string;
  /** A monotonic clock in milliseconds, to detect slow providers; default `performance.now`. */
  readonly measureMs?: () => number;
}

export interface RunOptions extends ChildOptions {
  /** The run that starts this one. */
  readonly parent?: Run;
}

/** Plain JSON. */
export interface Health {
  /** State of the recorder; absent without a store. */
  readonly recorder?: RecorderHealth;
  /** Number of runs of this process that have not ended. */
  readonly openRuns: number;
  /** Counts of invalid input that was repaired or refused, by kind. Absent if there was no invalid input. See docs/recording.md. */
  readonly input?: InputCounts;
  /** Counts of listener faults; absent if no listener failed. */
  readonly listeners?: ListenerHealth;
  /** Number of internal faults of coxswain. These do not affect the agent. */
  readonly faults: number;
  readonly lastFault?: string;
  /** What went wrong with each provider, classifier and detector, by name. Absent if nothing did. */
  readonly providers?: Readonly<Record<string, ProviderHealth>>;
}

/** Starts and continues runs. Its runs share a store and a steering configuration. */
export interface Coxswain {
  /**
   * Starts a run.
   *
   * @throws CoxswainError "invalid-argument" for a deadline or budget outside its range
   * @throws CoxswainError "invalid-definition" if two providers share a name
   * @throws CoxswainError "run-exists" if this process already had a run with that id. If another process has stored a run
   *   with that id, no record of this run is stored, and `flush` and `end` throw the error
   */
  startRun(options?: RunOptions): Run;
  /**
   * Continues a stored run of any process from its records. If the run is open in this process, the same object is
   * returned. If the run has ended, it is resumed. Several processes may have the same run open. Each process appends its
   * own events, and reads the records that were stored when it opened the run (docs/runs.md).
   *
   * @throws CoxswainError "run-unknown" if the run is not stored and `start` is absent
   * @throws CoxswainError "invalid-argument" without a store
   * @throws CoxswainError "store-io" if the run cannot be read, or if this process has records of the run that are not
   *   stored yet
   */
  openRun(runId: string, options?: OpenRunOptions): Promise<Run>;
  /**
   * Continues a run from a snapshot.
   *
   * @param prompts  every prompt of the run; if the snapshot names none of them, the first one is active
   * @throws CoxswainError "snapshot-version" if the snapshot has another version
   */
  restoreRun(snapshot: RunSnapshot, prompts?: readonly PromptTemplate[]): Run;
  /** Calls `sink` for every record and delta of all runs. Returns a function that removes the listener. */
  listen(sink: EventSink): () => void;
  health(): Health;
  /**
   * Resolves once all records are stored. Resolves to `incomplete` if some records were lost, or if some still wait after
   * `flushTimeLimitMs`.
   *
   * @throws CoxswainError "trajectory-io" or "trajectory-rejected" instead of `incomplete` with the policy `throw`
   */
  flush(limit?: TimeLimit): Promise<FlushAnswer>;
  /** Flushes and closes the store. Records that are still not stored are lost. Throws as `flush`, after the store is closed. */
  close(limit?: TimeLimit): Promise<FlushAnswer>;
  /**
   * Flushes before the process ends by SIGTERM, SIGINT or an empty event loop. The signal then has its usual effect, unless
   * the host has a listener for it.
   *
   * @param limit  maximum delay in milliseconds; default 2,000
   * @returns a function that removes these handlers; `close` removes them too
   */
  flushOnExit(limit?: TimeLimit): () => void;
}

/**
 * Synchronous. It opens no file or connection.
 *
 * @throws CoxswainError "invalid-argument" for an unknown option, a limit outside its range, or invalid redaction options
 * @throws CoxswainError "invalid-definition" for an invalid redaction rule
 */
export function createCoxswain(options: CoxswainOptions = {}): Coxswain {
  return new Process(options);
}

/** Maximum number of run ids that are remembered. Starting a second run with a remembered id is an error. */
const MAX_KNOWN_RUNS = 50_000;

interface NewRun extends Pick<RunParts, 'fold' | 'children' | 'ended'> {
  readonly steering: ResolvedSteering;
  readonly place: FamilyPlace;
  /** Last `seq` in the store; default: no record is stored. */
  readonly storedSeq?: number;
  /** Saves the state once all records are stored; default: the state is not saved. */
  readonly save?: ((run: Run) => Promise<void>) | undefined;
  /** True if other processes may have this run open; default: true. */
  readonly isShared?: boolean;
}

class Process implements Coxswain {
  readonly #options: CoxswainOptions;
  readonly #clock: Clock;
  readonly #queue: RecordQueue | undefined;
  readonly #redactor: Redactor;
  readonly #sharedRuns: SharedRuns | undefined;
  readonly #storedRuns: StoredRuns | undefined;
  readonly #open = new Set<Run>();
  readonly #knownRuns = new LruMap<true>(MAX_KNOWN_RUNS);
  readonly #opening = new Map<string, Promise<Run>>();
  readonly #tally = new InputTally();
  readonly #listeners = new Listeners();
  readonly #providers = new ProviderTally();
  #stopFlushOnExit: () => void = () => undefined;
  #faults = 0;
  #lastFault: string | undefined;

  constructor(options: CoxswainOptions) {
    checkCoxswainOptions(options);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const { store } = options;
    const readable = store !== undefined && 'readRun' in store ? store : undefined;
    this.#sharedRuns = readable === undefined ? undefined : new SharedRuns(readable);
    const sink = this.#sharedRuns ?? store;
    this.#queue = sink === undefined ? undefined : new RecordQueue(sink, options);
    this.#redactor = pricedRedactor(this.#redactorOf(options.redaction), options.prices);
    if (readable !== undefined) {
      const parts = { redactor: this.#redactor, clock: this.#clock, measureMs: this.measureMs };
      this.#storedRuns = new StoredRuns({ store: readable, steering: options, ...parts });
    }
    // Throws before the first run if a limit is outside its range.
    resolveSteering(options);
  }

  startRun(runOptions: RunOptions = {}): Run {
    checkRunOptions(runOptions);
    const { parent, ...own } = runOptions;
    const nowMs = this.#clock.nowMs();
    const identity = this.#identityOf(runOptions);
    if (this.#knownRuns.get(identity.runId) !== undefined) throw runExists(identity.runId);
    const children = own.children ?? parent?.changesOfChildren;
    const { options, ownDeadlineAtMs, prompt, sharesBudget } = inherit(own, parent?.heritage, nowMs);
    const steering = resolveSteering(this.#options, prompt);
    const startedPayload = runStarted(options, { identity, steering, prompt, nowMs, parent });
    const log = new RunLog(identity, this.#logParts());
    const place = { parent: parent?.family, sharesBudget, ownDeadlineAtMs };
    const run = this.#createRun(log, {
      fold: this.#foldOf({ steering, prompts: [prompt] }),
      steering,
      place,
      children,
      // Nobody else knows an id that was made here.
      isShared: runOptions.runId !== undefined,
      save: this.#storedRuns?.saverOf(identity.runId, [prompt], -1),
    });
    run.begin(startedPayload);
    return run;
  }

  async openRun(runId: string, options: OpenRunOptions = {}): Promise<Run> {
    const id = storableRunId(runId);
    const isOpening = this.#opening.get(id);
    if (isOpening !== undefined) return await isOpening;
    const openRun = [...this.#open].find((run) => run.id === id && !run.isEnded);
    if (openRun !== undefined) return openRun;
    const opening = this.#continueRun(id, options);
    this.#opening.set(id, opening);
    try {
      return await opening;
    } finally {
      this.#opening.delete(id);
    }
  }

  restoreRun(snapshot: RunSnapshot, prompts: readonly PromptTemplate[] = []): Run {
    // A snapshot from outside may contain any value in this field.
    const version: number = snapshot.schema_version;
    if (version !== 1) {
      throw new CoxswainError('snapshot-version', `run snapshot has version ${version}, this build reads 1`);
    }
    const { lastAtMs } = snapshot.fold.analysis.counters;
    const log = new RunLog(snapshot.identity, { ...this.#logParts(), nextSeq: snapshot.next_seq, lastMs: lastAtMs });
    const steering = resolveSteering(this.#options, prompts[0]);
    const { below } = snapshot.fold.steering.situation;
    const fold = this.#foldOf({ steering, prompts, snapshot: snapshot.fold });
    return this.#createRun(log, { fold, steering, place: { sharesBudget: false, below }, ended: snapshot.ended });
  }

  private get measureMs(): () => number {
    return this.#options.measureMs ?? ((): number => performance.now());
  }

  listen(sink: EventSink): () => void {
    return this.#listeners.add(sink);
  }

  health(): Health {
    const listeners = this.#listeners.health();
    for (const run of this.#open) if (run.isEnded) this.#open.delete(run);
    return {
      ...present({ recorder: this.#queue?.health() }),
      openRuns: this.#open.size,
      ...this.#tally.health(),
      ...present({ listeners }),
      faults: this.#faults,
      ...present({ lastFault: this.#lastFault, providers: this.#providers.health() }),
    };
  }

  async flush(limit?: TimeLimit): Promise<FlushAnswer> {
    return (await this.#queue?.flush(limit)) ?? 'stored';
  }

  async close(limit?: TimeLimit): Promise<FlushAnswer> {
    this.#stopFlushOnExit();
    try {
      return (await this.#queue?.close(limit)) ?? 'stored';
    } finally {
      await this.#options.store?.close();
    }
  }

  flushOnExit(limit: TimeLimit = {}): () => void {
    this.#stopFlushOnExit();
    const queue = this.#queue;
    if (queue !== undefined) this.#stopFlushOnExit = flushOnExit(queue, limit);
    return () => this.#stopFlushOnExit();
  }

  async #continueRun(runId: string, { prompts: given, start, trigger = 'open' }: OpenRunOptions): Promise<Run> {
    const prompts = given ?? [start?.prompt ?? DEFAULT_PROMPT];
    const storedRuns = this.#storedRuns;
    if (storedRuns === undefined)
      throw invalidArgument('openRun needs a store that can be read: createCoxswain({ store })');
    if (this.#knownRuns.get(runId) !== undefined && (await this.flush()) !== 'stored') {
      throw new CoxswainError(
        'store-io',
        `records of run ${JSON.stringify(runId)} still wait in this process and could not be stored; health() has the fault`,
      );
    }
    const openedRun = await storedRuns.open(runId, prompts);
    if (openedRun === undefined) {
      if (start === undefined) throw runUnknown(runId);
      this.#knownRuns.delete(runId);
      this.#sharedRuns?.mayJoin(runId, trigger);
      return this.startRun({ ...start, runId });
    }
    const { depth, lastAtMs, parentRunId } = openedRun.summary;
    const identity = { runId, depth, ...present({ parentRunId }) };
    this.#sharedRuns?.reopen(runId);
    const log = new RunLog(identity, { ...this.#logParts(), nextSeq: openedRun.nextSeq, lastMs: lastAtMs });
    const place = { sharesBudget: false, below: openedRun.fold.situation.below };
    const run = this.#createRun(log, {
      ...openedRun,
      place,
      storedSeq: openedRun.nextSeq - 1,
      save: storedRuns.saverOf(runId, prompts, openedRun.snapshotSeq),
      children: start?.children,
    });
    run.emit({ type: 'run_resumed', trigger });
    return run;
  }

  #logParts(): RunLogParts {
    const queue: RunLogParts['queue'] = {
      add: (record) => {
        this.#listeners.record(record);
        return this.#queue?.add(record) ?? 'accepted';
      },
    };
    return { clock: this.#clock, queue, redact: this.#redactor.redact, tally: this.#tally };
  }

  #foldOf(options: Omit<RunFoldOptions, 'measureMs'>): RunFold {
    return new RunFold({ ...options, redactor: this.#redactor, measureMs: this.measureMs });
  }

  #createRun(
    log: RunLog,
    { children, ended = false, isShared = true, fold, place, save, steering, storedSeq = -1 }: NewRun,
  ): Run {
    const { runId } = log.identity;
    const run: Run = new Run({
      log,
      fold,
      isShared,
      mode: steering.mode,
      models: steering.models,
      providerTimeLimitMs: steering.providerTimeLimitMs,
      flush: async (limit) => {
        const [flushed] = await Promise.allSettled([this.flush(limit)]);
        const refusal = this.#sharedRuns?.refusal(runId);
        if (refusal !== undefined && this.#options.onFailure === 'throw') throw refusal;
        if (flushed.status === 'rejected') throw flushed.reason;
        const answer = refusal === undefined ? flushed.value : 'incomplete';
        // Without the state, the next process folds the records: a fault here loses nothing.
        if (answer === 'stored')
          await save?.(run).catch((error: unknown) => run.reportFault('saving the state', error));
        return answer;
      },
      ready: async (limit) => (await this.#queue?.ready(limit)) ?? true,
      lostRecords: () => this.#queue?.lostRecords(runId),
      durableSeq: () => Math.max(storedSeq, this.#queue?.durableSeq(runId) ?? -1),
      family: (member) => new RunFamily(member, place),
      children,
      startChild: (options: ChildOptions) => this.startRun({ ...options, parent: run }),
      onFault: (message) => {
        this.#faults += 1;
        this.#lastFault = message;
      },
      onProvider: (about, isOff) => this.#providers.count(about, isOff),
      onResumed: () => this.#open.add(run),
      onDelta: (event) => this.#listeners.delta(event, runId),
      listen: (sink) => this.#listeners.add(sink, runId),
      ended,
    });
    this.#open.add(run);
    this.#knownRuns.set(runId, true);
    return run;
  }

  #redactorOf(options: CoxswainOptions['redaction']): Redactor {
    if (options === false) return NO_REDACTION;
    const onFault = (rule: string, message: string): void => {
      this.#faults += 1;
      this.#lastFault = `redaction rule ${rule}: ${message}`;
    };
    return createRedactor(options, { onFault, readResult, fingerprint: createFingerprint() });
  }

  #identityOf(options: RunOptions): RunLogIdentity {
    const runId = storableRunId(options.runId ?? (this.#options.newRunId ?? (() => globalThis.crypto.randomUUID()))());
    const { parent } = options;
    if (parent === undefined) return { runId, depth: 0 };
    return { runId, parentRunId: parent.id, depth: parent.depth + 1 };
  }
}

/** What went wrong with one provider, classifier, observer or detector in this process. */
export interface ProviderHealth {
  /** Number of times that it threw or returned an invalid result. */
  readonly failures: number;
  /** Number of times that it exceeded its time limit. */
  readonly overruns: number;
  /** Number of runs in which three overruns switched it off. */
  readonly offIn: number;
  /** Number of `advice_held` records: advice that a limit held back. */
  readonly held: number;
  /** At most 300 characters. */
  readonly lastFault?: string;
}

/** Maximum number of names. Beyond it, the name that was counted longest ago is left out. */
const MAX_NAMES = 200;

const NONE: ProviderHealth = { failures: 0, overruns: 0, offIn: 0, held: 0 };

/** Counts what went wrong with providers, for `health()`. */
class ProviderTally {
  readonly #byName = new LruMap<ProviderHealth>(MAX_NAMES);

  /** @param isOff  true if this overrun switched the provider off */
  count(about: ProviderRecord, isOff: boolean): void {
    // Overruns name the kind of provider as well, because a feedback and a guidance provider may share a name.
    const name = about.kind === 'provider_overran' ? about.provider_name.replace(/^\w+:/, '') : about.provider_name;
    const known = this.#byName.get(name) ?? NONE;
    if (about.kind === 'advice_held') this.#byName.set(name, { ...known, held: known.held + 1 });
    else if (about.kind === 'provider_failed')
      this.#byName.set(name, { ...known, failures: known.failures + 1, lastFault: about.message });
    else this.#byName.set(name, { ...known, overruns: known.overruns + 1, offIn: known.offIn + (isOff ? 1 : 0) });
  }

  /** Returns undefined if nothing went wrong. */
  health(): Readonly<Record<string, ProviderHealth>> | undefined {
    const entries = this.#byName.entries();
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }
}
