import type { NotifyReason } from '../config/coxswain-config.ts';

/** What people are notified of. `test` is what `coxswain notify test` sends. */
export type NotifyEvent = NotifyReason | 'test';

/** One notification. Plain JSON: the body of a webhook and the standard input of a command. */
export interface Notification {
  readonly event: NotifyEvent;
  readonly run: string;
  /** One sentence. */
  readonly message: string;
}

/** A way to reach somebody. */
export interface NotifyTarget {
  /** How messages name it; holds no secret. */
  readonly name: string;
  /** Sends one. Never rejects. @returns why it failed, and whether another try may help; undefined when it was sent */
  send(notification: Notification): Promise<NotifyFailure | undefined>;
}

/** Why a notification did not arrive. */
export interface NotifyFailure {
  readonly why: string;
  readonly mayRetry: boolean;
}
