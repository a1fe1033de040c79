import { systemClock, type Clock } from '../../core/base/clock.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import { alertOf } from '../../core/facts/run-alert.ts';
import { systemTimers, type Timers } from '../../core/recorder/record-queue-options.ts';
import type { NotifySection } from '../config/coxswain-config.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { EventSink } from '../../core/run/listeners.ts';
import { type Notifier, notifierOf } from './notifier.ts';
import { RunNotifications } from './run-notifications.ts';

/** The `notify` section of the configuration, and a callback for failures. */
export interface NotifyOptions extends NotifySection {
  /** Called for each notification that could not be sent. Default: emits a process warning. */
  readonly onFailure?: (message: string) => void;
  /** Timers for `waiting`, `silent` and `deadline`, which no record tells. Default: the timers of the process. */
  readonly timers?: Timers;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
}

export interface NotifySink extends EventSink {
  record(record: TrajectoryRecord): void;
  /** Resolves when every notification has been sent or has failed. Await it before the process ends. */
  finish(): Promise<void>;
}

/**
 * Notifies people about live runs: `cox.listen(notifySink({ webhook }))`. The agent never waits. docs/notifications.md describes
 * limits, retries and texts.
 *
 * @throws CoxswainError "invalid-argument" if the webhook is not a URL
 */
export function notifySink({
  clock = systemClock,
  onFailure = (message) => process.emitWarning(message, 'CoxswainWarning'),
  timers = systemTimers,
  ...section
}: NotifyOptions): NotifySink {
  const notifier = notifierOf(section, { onFailure });
  const runs = new RunNotifications();
  const alerts = new RunAlerts(runs, notifier, { clock, timers });
  return {
    record: (record) => {
      const run = record.run_id ?? '';
      for (const notification of runs.take(record, run)) notifier.tell(notification);
      alerts.take(record, run);
    },
    finish: async () => {
      alerts.stop();
      await notifier.finish();
    },
  };
}

const LOOK_MS = 30_000;
const MAX_RUNS = 256;

/** Looks at the open runs of this process every 30 seconds, while there are any. */
class RunAlerts {
  readonly #runs: RunNotifications;
  readonly #notifier: Notifier;
  readonly #parts: { readonly clock: Clock; readonly timers: Timers };
  readonly #open = new LruMap<true>(MAX_RUNS);
  readonly #childAtMs = new LruMap<number>(MAX_RUNS);
  #last: { readonly nowMs: number; readonly steadyMs: number } | undefined;
  #awokeAtMs = 0;
  #cancel: (() => void) | undefined;

  constructor(runs: RunNotifications, notifier: Notifier, parts: { readonly clock: Clock; readonly timers: Timers }) {
    this.#runs = runs;
    this.#notifier = notifier;
    this.#parts = parts;
  }

  take(record: TrajectoryRecord, run: string): void {
    if (this.#runs.viewOf(run)?.outcome === undefined) this.#open.set(run, true);
    else this.#open.delete(run);
    if (record.parent_run_id !== undefined) this.#childAtMs.set(record.parent_run_id, record.recorded_at_unix_ms);
    if (this.#cancel === undefined && this.#open.size > 0) this.#wait();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #wait(): void {
    const { clock, timers } = this.#parts;
    this.#last = { nowMs: clock.nowMs(), steadyMs: timers.nowMs() };
    this.#cancel = timers.after(LOOK_MS, () => this.#look(), 'let-go');
  }

  #look(): void {
    const { clock, timers } = this.#parts;
    const nowMs = clock.nowMs();
    const { nowMs: lastMs, steadyMs } = this.#last ?? { nowMs, steadyMs: timers.nowMs() };
    // A machine that slept is no silence.
    if (nowMs - lastMs - (timers.nowMs() - steadyMs) > LOOK_MS) this.#awokeAtMs = nowMs;
    this.#notifier.release();
    for (const notice of this.#runs.overdue(nowMs)) this.#notifier.tell(notice);
    for (const [run] of this.#open.entries()) {
      const view = this.#runs.viewOf(run);
      const alert =
        view && alertOf(view, { nowMs, activeAtMs: Math.max(this.#awokeAtMs, this.#childAtMs.get(run) ?? 0) });
      const notice = alert && this.#runs.found(run, [alert.kind, alert.text], alert.sinceMs);
      if (notice !== undefined) this.#notifier.tell(notice);
    }
    this.#cancel = undefined;
    if (this.#open.size > 0) this.#wait();
  }
}
