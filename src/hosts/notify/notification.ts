import type { NotifyReason } from '../config/coxswain-config.ts';

/** Events that cause a notification. `coxswain notify test` sends the event `test`. */
export type NotifyEvent = NotifyReason | 'test';

/** A notification. Plain JSON: the body of a webhook request and the standard input of a command. */
export interface Notification {
  readonly event: NotifyEvent;
  readonly run: string;
  readonly message: string;
  /** What the event is about. An event of a run with a cause is sent once for it; one without, at most once in ten minutes. */
  readonly cause?: string;
  /** What the event is about if it is not about one run: it is sent once for it, whatever run shows it. */
  readonly topic?: string;
  /** When it happened, in Unix milliseconds. An event that happened before the last one of its kind and run was sent is not sent again. */
  readonly atMs?: number;
}

export interface NotifyTarget {
  /** Name of the target in messages. Contains no secret. */
  readonly name: string;
  /** Sends a notification. Never rejects. Returns the failure; undefined on success. */
  send(notification: Notification): Promise<NotifyFailure | undefined>;
}

export interface NotifyFailure {
  readonly why: string;
  readonly mayRetry: boolean;
}

/** Formats a local time of day: `02:14`. */
export function timeOfDay(atMs: number): string {
  const at = new Date(atMs);
  return [at.getHours(), at.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':');
}

/** Escapes text for Slack and desktop markup, which share the same three characters. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
