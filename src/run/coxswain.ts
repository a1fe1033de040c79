import { systemClock, type Clock } from '../base/clock.ts';
import { CoxswainError } from '../base/error.ts';
import type { InputCounts } from '../base/input-fault.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import { resolveSteering } from '../steering/options.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import { readResult } from '../steering/read-result.ts';
import { flushOnExit } from '../recorder/flush-on-exit.ts';
import type { RecordQueueOptions } from '../recorder/record-queue-options.ts';
import { InputTally } from '../recorder/input-tally.ts';
import { RecordQueue } from '../recorder/record-queue.ts';
import type { FlushAnswer, TimeLimit } from '../recorder/recorder-answers.ts';
import type { RecorderHealth } from '../recorder/recorder-health.ts';
import { createRedactor, type RedactionOptions } from '../redaction/redactor.ts';
import { RunLog, type RunLogIdentity, type RunLogParts } from '../recorder/run-log.ts';
import { inherit } from './inherit.ts';
import { RunFamily, type FamilyPlace } from './run-family.ts';
import { RunFold, type RunFoldOptions } from './run-fold.ts';
import type { ChildOptions } from './run-options.ts';
import { runStarted } from './run-started.ts';
import { Run, type RunSnapshot } from './run.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
import { storableRunId } from '../store/check-batch.ts';
import type { TrajectoryStore } from '../store/trajectory-store.ts';

/** How coxswain is set up in a process. Steering options left out entirely mean `standardSteering()`. */
export interface CoxswainOptions extends SteeringOptions, RecordQueueOptions {
  /** Where runs are recorded; default: nowhere. `close()` closes it. */
  readonly store?: TrajectoryStore;
  /**
   * What is taken out of records before anything sees them. Default: secrets, by the built-in rules; `false` takes
   * nothing out. See docs/redaction.md.
   */
  readonly redaction?: RedactionOptions | false;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Makes run ids; default: random UUIDs. */
  readonly newRunId?: () => string;
  /** A steady clock in milliseconds, to notice slow providers; default `performance.now`. */
  readonly measureMs?: () => number;
}

/** How a run begins. */
export interface RunOptions extends ChildOptions {
  /** The run that starts this one. */
  readonly parent?: Run;
}

/** How coxswain is doing. Plain JSON. */
export interface Health {
  /** Absent when nothing is recorded. */
  readonly recorder?: RecorderHealth;
  /** Runs started in this process and not ended. */
  readonly openRuns: number;
  /** What was wrong with what hosts gave, and mended, by kind; absent while nothing was. See docs/recording.md. */
  readonly input?: InputCounts;
  /** Faults of coxswain itself, which the agent never felt. */
  readonly faults: number;
  readonly lastFault?: string;
}

/** coxswain in a process: starts runs, which share a store and a steering configuration. */
export interface Coxswain {
  /**
   * Starts a run.
   *
   * @throws CoxswainError "invalid-argument" for a deadline or budget outside its range
   * @throws CoxswainError "invalid-definition" when two providers share a name
   */
  startRun(options?: RunOptions): Run;
  /**
   * Goes on with a run, as if there had been no break.
   *
   * @param prompts every prompt the run has used; the first is in force where the snapshot names none of them
   * @throws CoxswainError "snapshot-version" when the snapshot is of another version
   */
  restoreRun(snapshot: RunSnapshot, prompts?: readonly PromptTemplate[]): Run;
  health(): Health;
  /**
   * Resolves when everything so far is stored, or `incomplete` when something was lost or still waits after
   * `flushTimeLimitMs`.
   *
   * @throws CoxswainError "store-io" instead of `incomplete` under the policy `throw`
   */
  flush(limit?: TimeLimit): Promise<FlushAnswer>;
  /** Flushes and closes the store; what is not stored then is lost. @throws as `flush`, after the store is closed */
  close(limit?: TimeLimit): Promise<FlushAnswer>;
  /**
   * From now on what waits is stored before the process ends by SIGTERM, SIGINT or for want of work. The signal does
   * afterwards what it would have done; where the host has a listener of its own for it, that one decides.
   *
   * @param limit how long the end may be put off, in milliseconds; default 2,000
   * @returns undoes it, as `close` does
   */
  flushOnExit(limit?: TimeLimit): () => void;
}

/**
 * Sets coxswain up. Synchronous; opens nothing itself.
 *
 * @throws CoxswainError "invalid-argument" for a limit outside its range, or redaction that cannot be
 * @throws CoxswainError "invalid-definition" for a redaction rule that is not one
 */
export function createCoxswain(options: CoxswainOptions = {}): Coxswain {
  return new Process(options);
}

/** What a run of this process is made from. */
interface NewRun {
  readonly fold: Omit<RunFoldOptions, 'measureMs' | 'onOverrun'>;
  readonly place: FamilyPlace;
  readonly children?: ChildOptions['children'];
  readonly ended?: boolean;
}

class Process implements Coxswain {
  readonly #options: CoxswainOptions;
  readonly #clock: Clock;
  readonly #queue: RecordQueue | undefined;
  readonly #redact: (payload: TrajectoryPayload) => TrajectoryPayload;
  readonly #open = new Set<Run>();
  readonly #tally = new InputTally();
  #staysOnExit: () => void = () => undefined;
  #faults = 0;
  #lastFault: string | undefined;

  constructor(options: CoxswainOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#queue = options.store === undefined ? undefined : new RecordQueue(options.store, options);
    this.#redact = this.#redactOf(options.redaction);
    // Also finds a limit outside its range before the first run.
    resolveSteering(options);
  }

  startRun(given: RunOptions = {}): Run {
    const { parent, ...own } = given;
    const nowMs = this.#clock.nowMs();
    const identity = this.#identityOf(given);
    const children = own.children ?? parent?.changesOfChildren;
    const { options, ownDeadlineAtMs, prompt, sharesBudget } = inherit(own, parent?.heritage, nowMs);
    const steering = resolveSteering(this.#options, prompt);
    const started = runStarted(options, { identity, steering, prompt, nowMs, parent });
    const log = new RunLog(identity, this.#logParts());
    const place = { parent: parent?.family, sharesBudget, ownDeadlineAtMs };
    const run = this.#run(log, { fold: { steering, prompts: [prompt] }, place, children });
    run.begin(started);
    return run;
  }

  restoreRun(snapshot: RunSnapshot, prompts: readonly PromptTemplate[] = []): Run {
    // A snapshot from elsewhere may hold anything in that field, whatever its type says.
    const version: number = snapshot.schema_version;
    if (version !== 1) {
      throw new CoxswainError('snapshot-version', `run snapshot has version ${version}, this build reads 1`);
    }
    const { lastAtMs } = snapshot.fold.analysis.counters;
    const log = new RunLog(snapshot.identity, { ...this.#logParts(), nextSeq: snapshot.next_seq, lastMs: lastAtMs });
    const steering = resolveSteering(this.#options, prompts[0]);
    const { below } = snapshot.fold.steering.situation;
    const fold = { steering, prompts, snapshot: snapshot.fold };
    return this.#run(log, { fold, place: { sharesBudget: false, below }, ended: snapshot.ended });
  }

  health(): Health {
    for (const run of this.#open) if (run.isEnded) this.#open.delete(run);
    return {
      ...(this.#queue === undefined ? {} : { recorder: this.#queue.health() }),
      openRuns: this.#open.size,
      ...this.#tally.health(),
      faults: this.#faults,
      ...(this.#lastFault === undefined ? {} : { lastFault: this.#lastFault }),
    };
  }

  async flush(limit?: TimeLimit): Promise<FlushAnswer> {
    return (await this.#queue?.flush(limit)) ?? 'stored';
  }

  async close(limit?: TimeLimit): Promise<FlushAnswer> {
    this.#staysOnExit();
    try {
      return (await this.#queue?.close(limit)) ?? 'stored';
    } finally {
      await this.#options.store?.close();
    }
  }

  flushOnExit(limit: TimeLimit = {}): () => void {
    this.#staysOnExit();
    const queue = this.#queue;
    if (queue !== undefined) this.#staysOnExit = flushOnExit(queue, limit);
    return () => this.#staysOnExit();
  }

  #logParts(): RunLogParts {
    return { clock: this.#clock, queue: this.#queue, redact: this.#redact, tally: this.#tally };
  }

  #run(log: RunLog, { children, ended = false, fold, place }: NewRun): Run {
    const { steering } = fold;
    const measureMs = this.#options.measureMs ?? ((): number => performance.now());
    const run: Run = new Run({
      log,
      fold: (onOverrun) => new RunFold({ ...fold, redact: this.#redact, measureMs, onOverrun }),
      mode: steering.mode,
      models: steering.models,
      providerTimeLimitMs: steering.providerTimeLimitMs,
      flush: (limit) => this.flush(limit),
      ready: async (limit) => (await this.#queue?.ready(limit)) ?? true,
      durableSeq: () => this.#queue?.durableSeq(log.identity.runId) ?? -1,
      family: (member) => new RunFamily(member, place),
      children,
      startChild: (options: ChildOptions) => this.startRun({ ...options, parent: run }),
      onFault: (message) => {
        this.#faults += 1;
        this.#lastFault = message;
      },
      onResumed: () => this.#open.add(run),
      ended,
    });
    this.#open.add(run);
    return run;
  }

  #redactOf(options: CoxswainOptions['redaction']): (payload: TrajectoryPayload) => TrajectoryPayload {
    if (options === false) return (payload) => payload;
    const onFault = (rule: string, message: string): void => {
      this.#faults += 1;
      this.#lastFault = `redaction rule ${rule}: ${message}`;
    };
    const redactor = createRedactor(options, { onFault, readResult });
    return (payload) => redactor.redact(payload);
  }

  #identityOf(options: RunOptions): RunLogIdentity {
    const runId = storableRunId(options.runId ?? (this.#options.newRunId ?? (() => globalThis.crypto.randomUUID()))());
    const { parent } = options;
    if (parent === undefined) return { runId, depth: 0 };
    return { runId, parentRunId: parent.id, depth: parent.depth + 1 };
  }
}
