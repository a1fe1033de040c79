import type { NotifySection } from '../config/coxswain-config.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { EventSink } from '../../core/run/listeners.ts';
import { notifierOf } from './notifier.ts';
import { RunNotifications } from './run-notifications.ts';

/** The `notify` section of the configuration, and a callback for failures. */
export interface NotifyOptions extends NotifySection {
  /** Called for each notification that could not be sent. Default: emits a process warning. */
  readonly onFailure?: (message: string) => void;
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
export function notifySink({ onFailure = warn, ...section }: NotifyOptions): NotifySink {
  const notifier = notifierOf(section, { onFailure });
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
