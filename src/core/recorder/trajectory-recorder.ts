import { present } from '../base/json.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { invalidArgument } from '../base/error.ts';
import { LruMap } from '../base/lru-map.ts';
import { readEventTime } from '../base/unix-time.ts';
import { ValueBudget } from '../base/to-json.ts';
import type { AgentEvent, AgentIdentity } from '../records/agent-event.ts';
import { repairPayload } from '../records/decode-payload.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../records/trajectory-record.ts';
import { storableRunId } from '../store/check-batch.ts';
import type { TrajectorySink, TrajectoryStore } from '../store/trajectory-store.ts';
import { faultText } from './append-fault.ts';
import { InputTally, toPayload, toStoredIdentity, unknownType } from './to-payload.ts';
import type { RecordQueueOptions, EmitAnswer, FlushAnswer, TimeLimit, RecorderHealth } from './record-queue-options.ts';
import { RecordQueue } from './record-queue.ts';
import { createFingerprint } from '../redact/fingerprint.ts';
import { createRedactor, type RedactionOptions } from '../redact/redactor.ts';
import { RunLog } from './run-log.ts';
import { lastSeqOf } from '../facts/run-summary.ts';
import { memoryStore } from '../store/memory-store.ts';

/** A sink that takes single records, as in clark-agent. `TrajectoryRecorder` calls it as `sinkOf` calls its function. */
export interface RecordSink {
  record(record: TrajectoryRecord): unknown;
}

/**
 * Creates a sink from a function. The function is called with one record at a time, in order within each run, and its
 * promise is awaited before the next call. If it throws, the append fails and the recorder retries the whole batch. The
 * function may therefore receive a record twice. Durability depends on the function.
 */
export function sinkOf(record: (record: TrajectoryRecord) => unknown): TrajectorySink {
  // A recorder appends to several runs at once, but the function may not be re-entrant.
  let previous: Promise<unknown> = Promise.resolve();
  return {
    append(batch) {
      const appended = previous.then(async () => {
        for (const item of batch) await record(item);
        const last = batch.at(-1);
        return last === undefined ? -1 : lastSeqOf(last);
      });
      previous = appended.catch(() => undefined);
      return appended;
    },
    flush: async () => {
      await previous;
    },
    close: () => Promise.resolve(),
  };
}

/** @throws CoxswainError "invalid-argument" for a value without the functions of a sink */
function toSink(sink: TrajectorySink | RecordSink): TrajectorySink {
  // JavaScript callers may pass a value of any type.
  const unchecked = sink as Partial<TrajectorySink & RecordSink> | null | undefined;
  const { append, flush, close, record } = unchecked ?? {};
  // A sink with all three functions is a TrajectorySink.
  if ([append, flush, close].every((member) => typeof member === 'function')) return sink as TrajectorySink;
  if (typeof record !== 'function') {
    throw invalidArgument('a sink must have the functions append, flush and close, or the function record');
  }
  return sinkOf((item) => unchecked?.record?.(item));
}

/** A sink that keeps records in memory, for tests and for reading whole trajectories. */
export class InMemoryTrajectorySink implements TrajectorySink {
  readonly #store: TrajectoryStore = memoryStore();
  /** Run ids in order of first appearance. */
  readonly #runIds = new Set<string>();

  /** Adds one record. Throws as `append`. */
  async record(record: TrajectoryRecord): Promise<void> {
    await this.append([record]);
  }

  async append(batch: readonly TrajectoryRecord[]): Promise<number> {
    const lastSeq = await this.#store.append(batch);
    this.#runIds.add(batch[0]?.run_id ?? '');
    return lastSeq;
  }

  /** Returns all records, by run in order of first appearance, then by `seq`. */
  async snapshot(): Promise<readonly TrajectoryRecord[]> {
    const records: TrajectoryRecord[] = [];
    for (const runId of this.#runIds) {
      for await (const record of this.#store.readRun(runId)) records.push(record);
    }
    return records;
  }

  async length(): Promise<number> {
    return (await this.snapshot()).length;
  }

  async isEmpty(): Promise<boolean> {
    return this.#runIds.size === 0;
  }

  async flush(): Promise<void> {
    await this.#store.flush();
  }

  async close(): Promise<void> {
    this.#runIds.clear();
    await this.#store.close();
  }
}

const MAX_KNOWN_RUNS = 10_000;
const MAX_UNKNOWN_TYPES = 100;

export interface EventObserver {
  /** @param stream  identifies the agent if several agents report events concurrently; default: a single stream */
  onEvent(event: AgentEvent, stream?: string): EmitAnswer;
}

export interface TrajectoryRecorderOptions extends RecordQueueOptions {
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Records held while their run is unknown; default 1,000. Beyond it, they get a generated id. */
  readonly maxHeld?: number;
  /** Generates ids for unidentified runs; default `anonymous-` and a random UUID. */
  readonly newAnonymousId?: () => string;
  /** Default: redacts secrets by the built-in rules; `false` redacts nothing. */
  readonly redaction?: RedactionOptions | false;
}

/**
 * Records a stream of agent events, without analysis or advice. It is for hosts that do not know at first, or never know,
 * which run their events belong to.
 *
 * - `agent_start` begins a run, possibly nested in the open one.
 * - `run_identified` identifies all events since then; held events are recorded after its `run_started`. If it names the
 *   open run as its parent, that run continues after the child's `agent_end`; otherwise it ends.
 * - Events that are still unidentified at `agent_end`, the next `agent_start`, `close`, or `maxHeld` are recorded under an
 *   id that begins with `anonymous-`.
 *
 * `seq` is gapless from 0 in each run.
 */
export class TrajectoryRecorder implements EventObserver {
  readonly #queue: RecordQueue;
  readonly #options: TrajectoryRecorderOptions;
  readonly #clock: Clock;
  /** Open runs by stream. The innermost run is last. */
  readonly #streams = new Map<string, HeldRun[]>();
  #redact: (payload: TrajectoryPayload) => TrajectoryPayload = (payload) => payload;
  #ownFaults = 0;
  #lastOwnFault: string | undefined;
  readonly #tally = new InputTally();
  readonly #unknownTypes = new LruMap<true>(MAX_UNKNOWN_TYPES);
  readonly #logs = new LruMap<RunLog>(MAX_KNOWN_RUNS);

  /**
   * @param sink  stays open when the recorder is closed
   * @throws CoxswainError "invalid-argument" for a limit, a policy or a redaction option out of range, or a sink without its
   *   functions
   * @throws CoxswainError "invalid-definition" for an invalid redaction rule
   */
  constructor(sink: TrajectorySink | RecordSink, options: TrajectoryRecorderOptions = {}) {
    const { maxHeld = 1 } = options;
    if (!(maxHeld >= 1)) throw invalidArgument(`maxHeld must be at least 1, got ${maxHeld}`);
    this.#queue = new RecordQueue(toSink(sink), options);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    if (options.redaction === false) return;
    const onFault = (rule: string, message: string): void => {
      this.#noteFault(`redaction rule ${rule}: ${message}`);
    };
    this.#redact = createRedactor(options.redaction, { onFault, fingerprint: createFingerprint() }).redact;
  }

  /** Records an event. Never waits or throws: an event that cannot be recorded is `dropped` and counted. */
  onEvent(event: AgentEvent, stream = ''): EmitAnswer {
    try {
      return this.#record(event, stream);
    } catch (error) {
      this.#tally.note('refused');
      this.#noteFault(`an event was not recorded: ${faultText(error)}`);
      return 'dropped';
    }
  }

  #record(event: AgentEvent, stream: string): EmitAnswer {
    const atMs = this.#timeOf(event.atMs);
    if (event.type === 'agent_start') {
      const openRuns = this.#openRunsOf(stream);
      this.#abandonHeld(openRuns);
      openRuns.push(new HeldRun());
      return 'accepted';
    }
    const payload = toPayload(event);
    if (payload === undefined) return 'accepted';
    this.#noteType(unknownType(event, payload));
    const openRuns = this.#openRunsOf(stream);
    if (event.type === 'run_identified') {
      const identity = { ...event.identity, runId: storableRunId(event.identity.runId) };
      if (openRuns.at(-1)?.runId !== identity.runId) return this.#identify(openRuns, identity, atMs);
    }
    const run = openRuns.at(-1) ?? pushNewRun(openRuns);
    // The event is repaired now, because the host may change it while it is held.
    const answer = run.add(run.runId === undefined ? this.#repair(payload) : payload, atMs);
    if (event.type === 'agent_end') {
      this.#recordAnonymously(run);
      openRuns.pop();
      if (openRuns.length === 0) this.#streams.delete(stream);
    } else if (run.heldCount >= (this.#options.maxHeld ?? 1_000)) this.#recordAnonymously(run);
    return answer;
  }

  /** Returns the id of the stream's current run. Undefined if there is no run, or before it is identified. */
  runId(stream = ''): string | undefined {
    return this.#streams.get(stream)?.at(-1)?.runId;
  }

  /** Last `seq` of a run that the sink has acknowledged; -1 before the first. */
  durableSeq(runId: string): number {
    return this.#queue.durableSeq(runId);
  }

  /** Returns the state of the recorder. It includes faults of redaction rules and of events. Held records are not counted yet. */
  health(): RecorderHealth {
    const health = { ...this.#queue.health(), ...this.#tally.health() };
    if (this.#lastOwnFault === undefined) return health;
    return { ...health, faults: health.faults + this.#ownFaults, lastFault: health.lastFault ?? this.#lastOwnFault };
  }

  /** Works like `run.ready`. */
  ready(limit?: TimeLimit): Promise<boolean> {
    return this.#queue.ready(limit);
  }

  /** Like `run.flush`; held records stay held. Throws CoxswainError "trajectory-io" or "trajectory-rejected" under `throw`. */
  flush(limit?: TimeLimit): Promise<FlushAnswer> {
    return this.#queue.flush(limit);
  }

  /** Records held events, and flushes. The sink stays open. Throws as `flush`. */
  close(limit?: TimeLimit): Promise<FlushAnswer> {
    for (const openRuns of this.#streams.values()) for (const run of openRuns) this.#recordAnonymously(run);
    this.#streams.clear();
    return this.#queue.close(limit);
  }

  #timeOf(atMs: unknown): number {
    const nowMs = this.#clock.nowMs();
    if (atMs === undefined) return nowMs;
    const { ms, fault } = readEventTime(atMs, nowMs);
    if (fault !== undefined) this.#tally.note(fault);
    return ms;
  }

  #noteType(detail: string | undefined): void {
    if (detail === undefined) return;
    this.#tally.note('unknownTypes');
    if (this.#unknownTypes.get(detail) === undefined) this.#noteFault(`unknownTypes: ${detail}`);
    this.#unknownTypes.set(detail, true);
  }

  #noteFault(message: string): void {
    this.#ownFaults += 1;
    this.#lastOwnFault = message;
  }

  #repair(payload: TrajectoryPayload): TrajectoryPayload {
    const budget = new ValueBudget((fault) => this.#tally.note(fault));
    return repairPayload(payload, budget);
  }

  #openRunsOf(stream: string): HeldRun[] {
    const existingRuns = this.#streams.get(stream);
    if (existingRuns !== undefined) return existingRuns;
    const openRuns: HeldRun[] = [];
    this.#streams.set(stream, openRuns);
    return openRuns;
  }

  #identify(runs: HeldRun[], identity: AgentIdentity, atMs: number): EmitAnswer {
    const current = runs.at(-1);
    const isHeld = current !== undefined && current.runId === undefined;
    const run = isHeld ? current : new HeldRun();
    if (isHeld) runs.pop();
    if (current?.isAnonymous === true) {
      // The beginning of the run is recorded under a generated id. This label records under which id the run continues.
      const labels = { run_id: identity.runId };
      current.add({ kind: 'run_ended', outcome: 'identified', new_messages: [], labels }, atMs);
    }
    // Open runs that are not the parent have ended without an `agent_end`.
    while (runs.length > 0 && (identity.parentRunId === undefined || runs.at(-1)?.runId !== identity.parentRunId)) {
      runs.pop();
    }
    runs.push(run);
    return run.identify(this.#log(identity), identity, atMs);
  }

  #abandonHeld(openRuns: HeldRun[]): void {
    const current = openRuns.at(-1);
    if (current === undefined || current.runId !== undefined) return;
    this.#recordAnonymously(current);
    openRuns.pop();
  }

  #recordAnonymously(run: HeldRun): void {
    if (run.runId !== undefined || run.heldCount === 0) return;
    const createId = this.#options.newAnonymousId ?? ((): string => `anonymous-${globalThis.crypto.randomUUID()}`);
    run.recordAnonymously(this.#log({ runId: createId(), depth: 0 }));
  }

  /** If a run is identified again, such as a resumed session, its `seq` continues. */
  #log(identity: AgentIdentity): RunLog {
    const { runId, parentRunId, depth } = identity;
    const knownLog = this.#logs.get(runId);
    if (knownLog !== undefined) return knownLog;
    const log = new RunLog(
      { runId, depth, ...present({ parentRunId }) },
      { clock: this.#clock, queue: this.#queue, redact: this.#redact, tally: this.#tally },
    );
    this.#logs.set(runId, log);
    return log;
  }
}

function pushNewRun(openRuns: HeldRun[]): HeldRun {
  const run = new HeldRun();
  openRuns.push(run);
  return run;
}

interface HeldEvent {
  readonly payload: TrajectoryPayload;
  readonly atMs: number;
}

/** One run of a stream. It holds its events until the run is identified, then records them. */
class HeldRun {
  #held: HeldEvent[] = [];
  #log: RunLog | undefined;
  #isAnonymous = false;

  get runId(): string | undefined {
    return this.#log?.identity.runId;
  }

  get isAnonymous(): boolean {
    return this.#isAnonymous;
  }

  get heldCount(): number {
    return this.#held.length;
  }

  add(payload: TrajectoryPayload, atMs: number): EmitAnswer {
    if (this.#log !== undefined) return write(this.#log, payload, atMs);
    this.#held.push({ payload, atMs });
    return 'accepted';
  }

  identify(log: RunLog, identity: AgentIdentity, atMs: number): EmitAnswer {
    const payload: TrajectoryPayload =
      log.nextSeq === 0
        ? { kind: 'run_started', identity: toStoredIdentity(identity) }
        : { kind: 'run_resumed', trigger: 'identified' };
    return this.#begin(log, [{ payload, atMs: Math.min(atMs, this.#held[0]?.atMs ?? atMs) }, ...this.#held]);
  }

  recordAnonymously(log: RunLog): void {
    this.#isAnonymous = true;
    this.#begin(log, this.#held);
  }

  #begin(log: RunLog, items: readonly HeldEvent[]): EmitAnswer {
    this.#log = log;
    this.#held = [];
    let answer: EmitAnswer = 'accepted';
    for (const { payload, atMs } of items) if (write(log, payload, atMs) === 'dropped') answer = 'dropped';
    return answer;
  }
}

function write(log: RunLog, payload: TrajectoryPayload, atMs: number): EmitAnswer {
  return log.write(log.stamp(payload, atMs));
}
