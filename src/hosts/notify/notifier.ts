import { setTimeout as delay } from 'node:timers/promises';

import { systemClock, type Clock } from '../../core/base/clock.ts';
import { present } from '../../core/base/json.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import { redactText } from '../../core/redact/redact-text.ts';
import { printableCut } from '../../core/base/printable.ts';
import {
  timeOfDay,
  type Notification,
  type NotifyEvent,
  type NotifyFailure,
  type NotifyTarget,
} from './notification.ts';
import { invalidArgument } from '../../core/base/error.ts';
import type { NotifySection } from '../config/coxswain-config.ts';
import { commandTarget, desktopTarget, webhookTarget } from './webhook-target.ts';

/** Returns the targets of a configuration. Throws CoxswainError `invalid-argument` if the webhook is not a URL. */
export function targetsOf({ webhook, form, command, desktop }: NotifySection): readonly NotifyTarget[] {
  if (webhook !== undefined && !URL.canParse(webhook)) {
    throw invalidArgument('notify.webhook is not an address: give one that begins with https://');
  }
  return [
    ...(webhook === undefined ? [] : [webhookTarget(webhook, form)]),
    ...(command === undefined ? [] : [commandTarget(command, 'notify.command')]),
    ...(desktop === true ? [desktopTarget()] : []),
  ];
}

/** Minimum time between two notifications with the same event and run. */
const REPEAT_MS = 10 * 60_000;
const HOUR_MS = 3_600_000;
const MAX_PER_HOUR = 30;
const MAX_PER_RUN_AND_HOUR = 6;
/** Notifications beside ends that wait for the next one. */
const MAX_HELD = 30;
const MAX_KNOWN = 1_000;
const MAX_CHARS = 500;
/** Delays before the second and the third attempt. */
const RETRY_WAITS_MS = [1_000, 5_000];
const REDACTION = { off: new Set<string>(), allows: () => false, named: true };

/** Returns the notifier of a configuration. Throws CoxswainError as `targetsOf`. */
export function notifierOf(
  { on, quiet, ...section }: NotifySection,
  parts: Pick<NotifierParts, 'onFailure' | 'sent' | 'pending' | 'onSent'>,
): Notifier {
  return new Notifier({
    ...parts,
    targets: targetsOf(section),
    clock: systemClock,
    sleep: delay,
    ...present({ on, quiet }),
  });
}

export interface NotifierParts {
  readonly targets: readonly NotifyTarget[];
  readonly on?: readonly NotifyEvent[];
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Called for each notification that could not be sent. */
  readonly onFailure: (message: string) => void;
  /** Hours without notifications, such as `23:00-07:00`, in local time. Default: none. */
  readonly quiet?: string;
  /** What an earlier process sent, as `onSent` had it. */
  readonly sent?: readonly SentKey[];
  /** What an earlier process had not sent when it ended. It is sent first. */
  readonly pending?: readonly PendingNotification[];
  /** Called with what was sent and with what waits, whenever that changes. At most 1,000 entries. */
  readonly onSent?: (sent: readonly SentKey[], pending: readonly PendingNotification[]) => void;
}

/** A notification that is not sent yet. Its secrets are redacted. */
export interface PendingNotification extends Pick<Notification, 'event' | 'run' | 'message'> {
  /** True while it is sent. A process that ends then leaves open whether it arrived. */
  readonly isBegun?: boolean;
}
const MAYBE_SENT = '\nIt may have been sent before: the watch ended while it sent this';

/** What was sent, and when in Unix milliseconds. */
export type SentKey = readonly [key: string, atMs: number];

/** What was sent in the last hour. The ends of runs, of which there may be many, take nothing from the others. */
interface Sending {
  hour: readonly { readonly run: string; readonly ms: number }[];
  countedMs: number;
}

/**
 * Sent one at a time, with secrets redacted: one per event and run in ten minutes, six per run and hour, 30 per hour;
 * beyond, one in ten minutes. Ends count apart: those not sent are counted, and any other notification waits for its
 * turn. The first after quiet hours says how many they kept back. Transient failures are retried twice. Callers do not
 * wait.
 */
export class Notifier {
  readonly #parts: NotifierParts;
  readonly #sentMs: LruMap<number>;
  readonly #ends: Sending = { hour: [], countedMs: Number.NEGATIVE_INFINITY };
  readonly #news: Sending = { hour: [], countedMs: Number.NEGATIVE_INFINITY };
  /** By what they are about, oldest first. */
  readonly #held = new Map<string, PendingNotification>();
  #unsent = 0;
  #inQuietHours = 0;
  readonly #pending = new Map<Notification, PendingNotification>();
  #lastSend: Promise<void> = Promise.resolve();

  constructor(parts: NotifierParts) {
    this.#parts = parts;
    this.#sentMs = new LruMap(MAX_KNOWN, parts.sent);
    for (const { isBegun, message, ...rest } of parts.pending ?? []) {
      this.#send({ ...rest, message: isBegun === true ? message.replace(MAYBE_SENT, '') + MAYBE_SENT : message });
    }
  }

  /** Queues a notification. Returns false if its event is not selected, or a limit is reached. */
  tell(notification: Notification): boolean {
    if (this.#parts.on?.includes(notification.event) === false) return false;
    this.release();
    const nowMs = this.#parts.clock.nowMs();
    const { atMs = Infinity, cause, event, run, topic } = notification;
    const key = topic ?? [event, run, cause].filter((part) => part !== undefined).join(' ');
    const lastMs = this.#sentMs.get(key);
    if (lastMs !== undefined && (cause !== undefined || lastMs >= atMs || nowMs - lastMs < REPEAT_MS)) return false;
    this.#sentMs.set(key, nowMs);
    const shown = { event, run: shownText(run), message: shownText(notification.message) };
    const isQuiet = this.#isQuiet(nowMs);
    const isSent = !isQuiet && this.#sendIfFree(shown, nowMs);
    if (!isSent) {
      if (isQuiet) this.#inQuietHours += 1;
      else if (event === 'ended' || this.#held.size >= MAX_HELD) this.#unsent += 1;
      else this.#held.set(key, shown);
      this.#keep();
    }
    return isSent;
  }

  /** Sends what waits, as far as the limits let it. Call it now and then. */
  release(): void {
    const nowMs = this.#parts.clock.nowMs();
    if (this.#isQuiet(nowMs)) return;
    for (const [key, notification] of this.#held) if (this.#sendIfFree(notification, nowMs)) this.#held.delete(key);
  }

  #sendIfFree({ event, message, run }: PendingNotification, nowMs: number): boolean {
    const sending = event === 'ended' ? this.#ends : this.#news;
    sending.hour = sending.hour.filter(({ ms }) => nowMs - ms < HOUR_MS);
    if (sending.hour.filter((sent) => sent.run === run).length >= MAX_PER_RUN_AND_HOUR) return false;
    const isLimited = sending.hour.length >= MAX_PER_HOUR;
    if (isLimited && nowMs - sending.countedMs < REPEAT_MS) return false;
    const notes = [
      ...(isLimited && this.#unsent === 0 ? ['Only one in ten minutes follows; see coxswain'] : []),
      ...(this.#unsent === 0 ? [] : [`${this.#unsent} more were not sent; see coxswain`]),
      ...(this.#inQuietHours === 0 ? [] : [`${this.#inQuietHours} more in the quiet hours; see coxswain`]),
    ];
    if (isLimited) sending.countedMs = nowMs;
    else sending.hour = [...sending.hour, { run, ms: nowMs }];
    [this.#unsent, this.#inQuietHours] = [0, 0];
    this.#send({ event, run, message: [message, ...notes].join('\n') });
    return true;
  }

  #send(notification: Notification): void {
    this.#pending.set(notification, notification);
    this.#keep();
    this.#lastSend = this.#sendAfter(this.#lastSend, notification);
  }

  #keep(): void {
    this.#parts.onSent?.(this.#sentMs.entries(), [...this.#pending.values(), ...this.#held.values()]);
  }

  #isQuiet(nowMs: number): boolean {
    const [from, to] = (this.#parts.quiet ?? '').split('-');
    if (from === undefined || to === undefined) return false;
    const now = timeOfDay(nowMs);
    return from <= to ? now >= from && now < to : now >= from || now < to;
  }

  async finish(): Promise<void> {
    await this.#lastSend;
  }

  async #sendAfter(before: Promise<void>, notification: Notification): Promise<void> {
    await before;
    this.#pending.set(notification, { ...notification, isBegun: true });
    this.#keep();
    await Promise.all(this.#parts.targets.map((target) => this.#sendTo(target, notification)));
    this.#pending.delete(notification);
    this.#keep();
  }

  async #sendTo(target: NotifyTarget, notification: Notification): Promise<void> {
    const failure = await sendWithRetries(() => target.send(notification), this.#parts.sleep);
    if (failure === undefined) return;
    this.#parts.onFailure(`${target.name} was not notified (${notification.event}): ${failure.why}`);
  }
}

/** Tries up to three times while failures are transient. Returns the last failure; undefined on success. */
export async function sendWithRetries(
  send: () => Promise<NotifyFailure | undefined>,
  sleep: (ms: number) => Promise<unknown>,
): Promise<NotifyFailure | undefined> {
  let failure = await send();
  for (const waitMs of RETRY_WAITS_MS) {
    if (failure?.mayRetry !== true) break;
    await sleep(waitMs);
    failure = await send();
  }
  return failure;
}

/** Redacts secrets in a text with the built-in rules. */
export function withoutSecrets(text: string): string {
  return redactText(text, REDACTION);
}

/** Redacts before truncating, because the rules do not match a truncated secret. */
function shownText(text: string): string {
  return printableCut(withoutSecrets(text), MAX_CHARS);
}
