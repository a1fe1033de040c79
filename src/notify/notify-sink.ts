import { setTimeout as sleep } from 'node:timers/promises';

import { systemClock } from '../base/clock.ts';
import { present } from '../base/present.ts';
import type { NotifySection } from '../config/coxswain-config.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import type { EventSink } from '../run/listeners.ts';
import { Notifier } from './notifier.ts';
import { RunNotifications } from './run-notifications.ts';
import { targetsOf } from './targets-of.ts';

/** Whom to notify, of what. The fields of `notify` in the configuration, and what becomes of failures. */
export interface NotifyOptions extends NotifySection {
  /** Told of each notification that did not arrive. Default: a warning of the process. */
  readonly onFailure?: (message: string) => void;
}

/** A listener that notifies people. */
export interface NotifySink extends EventSink {
  record(record: TrajectoryRecord): void;
  /** Resolves when everything was sent, or given up. Call it before the process ends. */
  finish(): Promise<void>;
}

/**
 * Notifies people of what happens to runs: `cox.listen(notifySink({ webhook }))`. Limits, tries and texts are those of
 * docs/notifications.md. The agent never waits: a sink is called after the fact, and sends on its own.
 *
 * @throws CoxswainError "invalid-argument" when the webhook is no address
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
