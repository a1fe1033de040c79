import type { NotifyReason } from '../config/coxswain-config.ts';

/** Events that people can be notified of. `coxswain notify test` sends `test`. */
export type NotifyEvent = NotifyReason | 'test';

/** One notification. Plain JSON: the body of a webhook and the standard input of a command. */
export interface Notification {
  readonly event: NotifyEvent;
  readonly run: string;
  /** One sentence. */
  readonly message: string;
}

/** A channel for notifications. */
export interface NotifyTarget {
  /** Its name in messages; contains no secret. */
  readonly name: string;
  /** Sends a notification. Never rejects. @returns the failure, or undefined on success */
  send(notification: Notification): Promise<NotifyFailure | undefined>;
}

/** The reason for a failure, and whether a retry may help. */
export interface NotifyFailure {
  readonly why: string;
  readonly mayRetry: boolean;
}
