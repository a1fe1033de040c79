import { MAX_FAULT_CHARS, MAX_READ_CHARS, messageOf } from '../base/error.ts';
import { type DerivedPayload, isDerived } from '../records/derived-payload.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../records/trajectory-record.ts';
import type { EmitAnswer } from '../recorder/record-queue-options.ts';
import type { StopRequest } from '../steering/stop-policy.ts';
import type { RunLog } from '../recorder/run-log.ts';
import type { RunFamily } from './run-family.ts';
import type { RunFold } from './run-fold.ts';
import { ownUsage } from './run-situation.ts';

/** Including the events that they cause. Half the capacity of the record queue. */
export const MAX_LATER_EVENTS = 5_000;

/** A bounded queue of events that providers and subscribers emit. They are processed after the current event. */
class LaterEvents {
  #queue: (() => void)[] = [];
  #taken = 0;
  #isDraining = false;

  /** @returns `full` for the first event that does not fit, `over` for the next ones */
  add(event: () => void): 'taken' | 'full' | 'over' {
    if (this.#taken > MAX_LATER_EVENTS) return 'over';
    this.#taken += 1;
    if (this.#taken > MAX_LATER_EVENTS) return 'full';
    this.#queue.push(event);
    return 'taken';
  }

  /** A nested call during a drain does nothing. `onFault` receives each thrown value; the rest is still processed. */
  drain(onFault: (error: unknown) => void): void {
    if (this.#isDraining || this.#taken === 0) return;
    this.#isDraining = true;
    try {
      // The list may grow during the iteration.
      for (const event of this.#queue) {
        try {
          event();
        } catch (error) {
          onFault(error);
        }
      }
    } finally {
      this.#isDraining = false;
      this.#queue = [];
      this.#taken = 0;
    }
  }
}

const USES: ReadonlySet<TrajectoryPayload['kind']> = new Set(['message_appended', 'tool_started', 'tool_ended']);

/** A payload about the work of a provider, which `health()` counts. */
export type ProviderRecord = Extract<
  TrajectoryPayload,
  { readonly kind: 'provider_failed' | 'provider_overran' | 'advice_held' }
>;

export interface RunPathParts {
  readonly log: RunLog;
  readonly fold: RunFold;
  readonly family: RunFamily;
  readonly onFault: (message: string) => void;
  /** Called for each record about a provider that failed, took too long or was held back. */
  readonly onProvider: (about: ProviderRecord, isOff: boolean) => void;
  readonly mode: 'steer' | 'shadow';
}

export class RunPath {
  readonly #parts: RunPathParts;
  readonly #laterEvents = new LaterEvents();
  readonly #stop = new AbortController();
  #isBusy = false;
  #hasAskedWithin = false;

  constructor(parts: RunPathParts) {
    this.#parts = parts;
    this.#signalStop();
  }

  /** Undefined in shadow mode. */
  get shouldStop(): StopRequest | undefined {
    return this.#parts.mode === 'shadow' ? undefined : this.#parts.fold.situation.stop;
  }

  get stopSignal(): AbortSignal {
    return this.#stop.signal;
  }

  #signalStop(): void {
    const { shouldStop } = this;
    if (shouldStop === undefined) return;
    // Named as the errors of other aborted signals, so that SDKs treat it as one.
    const error = new Error(`coxswain asks to stop: ${shouldStop.reason}`);
    this.#stop.abort(Object.assign(error, { name: 'AbortError', ...shouldStop }));
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Records that a provider requested advice during the evaluation. Recorded once per step. */
  askedWithin(): void {
    this.#parts.log.countInputFault('crowded');
    if (this.#hasAskedWithin) return;
    this.#hasAskedWithin = true;
    this.fault('advise', new Error('requested from within a provider, which gets no advice'));
  }

  late(): EmitAnswer {
    this.#parts.log.noteInputFault('lateEvents', 'an event after the end');
    return 'dropped';
  }

  noteType(detail: string | undefined): void {
    if (detail !== undefined) this.#parts.log.noteInputFault('unknownTypes', detail);
  }

  refuse(where: string, error: unknown): EmitAnswer {
    this.#parts.log.countInputFault('refused');
    this.fault(where, error);
    return 'dropped';
  }

  take(payload: TrajectoryPayload, atMs?: number): EmitAnswer {
    const { log } = this.#parts;
    if (!this.#isBusy) return this.process(log.stamp(payload, atMs), []);
    // The payload is copied now, because the host may change it before it is processed.
    const repairedPayload = log.repair(payload);
    const answer = this.#laterEvents.add(() => this.process(log.stamp(repairedPayload, atMs), []));
    if (answer === 'taken') return 'accepted';
    log.countInputFault('crowded');
    if (answer === 'full') {
      const message = `more than ${MAX_LATER_EVENTS} events from within providers and subscribers; the rest is dropped`;
      this.fault('emit', new Error(message));
    }
    return 'dropped';
  }

  /** The record is stored before it is folded, because a fault in a fold must not lose the call. */
  process(record: TrajectoryRecord, derivedPayloads: DerivedPayload[]): EmitAnswer {
    const answer = this.#parts.log.write(record);
    this.#isBusy = true;
    this.#hasAskedWithin = false;
    try {
      for (const item of this.#parts.fold.fold(record)) {
        const stamped = this.#parts.log.stamp(item, record.recorded_at_unix_ms);
        // The agent receives the redacted advice.
        if (isDerived(stamped.payload)) derivedPayloads.push(stamped.payload);
        if (stamped.payload.kind === 'stop_requested') this.#signalStop();
        this.#countProvider(stamped.payload);
        this.#parts.log.write(stamped);
      }
    } catch (error) {
      this.fault(`folding ${record.payload.kind}`, error);
    } finally {
      this.#isBusy = false;
      this.#countProvider(record.payload);
      if (USES.has(record.payload.kind))
        this.#parts.family.used(ownUsage(this.#parts.fold.situation, this.#parts.fold.analysis.calls));
    }
    this.#laterEvents.drain((error) => this.refuse('emit', error));
    return answer;
  }

  #countProvider(payload: TrajectoryPayload): void {
    const { fold, onProvider } = this.#parts;
    if (payload.kind === 'provider_failed' || payload.kind === 'advice_held') onProvider(payload, false);
    else if (payload.kind === 'provider_overran') onProvider(payload, fold.isSwitchedOff(payload.provider_name));
  }

  /** Counts an internal fault in `health()` and records it. */
  fault(where: string, error: unknown): void {
    const { log, onFault } = this.#parts;
    try {
      // The message is cut to its final length after `stamp` has redacted it: redaction would not recognise half a secret.
      const record = log.stamp({ kind: 'fault_noticed', where, message: messageOf(error).slice(0, MAX_READ_CHARS) });
      if (record.payload.kind !== 'fault_noticed') return;
      const message = record.payload.message.slice(0, MAX_FAULT_CHARS);
      onFault(`${record.payload.where}: ${message}`);
      log.write({ ...record, payload: { ...record.payload, message } });
    } catch (second) {
      // If recording also fails, for example because of a broken clock, the fault is only counted.
      onFault(`${where}: a fault that could not be recorded`);
      onFault(`recording a fault: ${messageOf(second)}`);
    }
  }
}
