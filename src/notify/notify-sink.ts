import { setTimeout as sleep } from 'node:timers/promises';

import { systemClock } from '../base/clock.ts';
import { present } from '../base/present.ts';
import type { NotifySection } from '../config/coxswain-config.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import type { EventSink } from '../run/listeners.ts';
import { Notifier } from './notifier.ts';
import { RunNotifications } from './run-notifications.ts';
import { targetsOf } from './targets-of.ts';

/** The fields of `notify` in the configuration, and a handler for failures. */
export interface NotifyOptions extends NotifySection {
  /** Called for each notification that could not be sent. Default: a process warning. */
  readonly onFailure?: (message: string) => void;
}

/** A listener that notifies people. */
export interface NotifySink extends EventSink {
  record(record: TrajectoryRecord): void;
  /** Resolves when everything has been sent or given up. Await it before the process ends. */
  finish(): Promise<void>;
}

/**
 * Notifies people about live runs: `cox.listen(notifySink({ webhook }))`. For limits, retries and texts see docs/notifications.md. The
 * agent never waits.
 *
 * @throws CoxswainError "invalid-argument" when the webhook is not a URL
 */
export function notifySink({ onFailure = warn, ...section }: NotifyOptions): NotifySink {
  const parts = { targets: targetsOf(section), onFailure, clock: systemClock, sleep, ...present({ on: section.on }) };
  const notifier = new Notifier(parts);
  const runs = new RunNotifications({ delivered: true });
  return {
    record: (record) => {
      for (const notification of runs.take(record, record.run_id ?? '')) notifier.tell(notification);
    },
    finish: () => notifier.finish(),
  };
}

function warn(message: string): void {
  process.emitWarning(message, 'CoxswainWarning');
}
