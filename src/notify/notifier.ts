import type { Clock } from '../base/clock.ts';
import { LruMap } from '../base/lru-map.ts';
import { redactText } from '../redaction/redact-text.ts';
import { printableCut } from '../cli/terminal/printable.ts';
import type { Notification, NotifyEvent, NotifyFailure, NotifyTarget } from './notification.ts';

/** The same event of the same run is sent again only after so long. */
const REPEAT_MS = 10 * 60_000;
const HOUR_MS = 3_600_000;
const MAX_PER_HOUR = 30;
const MAX_KNOWN = 1_000;
const MAX_CHARS = 500;
/** Waits before the second and the third try. */
const RETRY_WAITS_MS = [1_000, 5_000];
const REDACTION = { off: new Set<string>(), allows: () => false, named: true };

/** What a `Notifier` works with. */
export interface NotifierParts {
  readonly targets: readonly NotifyTarget[];
  /** What is sent; default: everything. */
  readonly on?: readonly NotifyEvent[];
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Told of each notification that did not arrive. */
  readonly onFailure: (message: string) => void;
}

/**
 * Sends notifications one after the other, without secrets: one an event of a run in ten minutes, 30 an hour. A failure that may
 * pass is tried three times. Whoever tells it something waits for nothing.
 */
export class Notifier {
  readonly #parts: NotifierParts;
  readonly #sentMs = new LruMap<number>(MAX_KNOWN);
  #hourMs: readonly number[] = [];
  #sending: Promise<void> = Promise.resolve();

  constructor(parts: NotifierParts) {
    this.#parts = parts;
  }

  /** Sends it soon. @returns false when it is not asked for, or one too many */
  tell(notification: Notification): boolean {
    if (this.#parts.on?.includes(notification.event) === false) return false;
    const nowMs = this.#parts.clock.nowMs();
    const key = `${notification.event} ${notification.run}`;
    const lastMs = this.#sentMs.get(key);
    this.#hourMs = this.#hourMs.filter((ms) => nowMs - ms < HOUR_MS);
    if (lastMs !== undefined && nowMs - lastMs < REPEAT_MS) return false;
    if (this.#hourMs.length >= MAX_PER_HOUR) return false;
    this.#sentMs.set(key, nowMs);
    this.#hourMs = [...this.#hourMs, nowMs];
    const shown = { ...notification, run: shownText(notification.run), message: shownText(notification.message) };
    this.#sending = this.#sendAfter(this.#sending, shown);
    return true;
  }

  /** Resolves when everything was sent, or given up. */
  async finish(): Promise<void> {
    await this.#sending;
  }

  async #sendAfter(before: Promise<void>, notification: Notification): Promise<void> {
    await before;
    await Promise.all(this.#parts.targets.map((target) => this.#send(target, notification)));
  }

  async #send(target: NotifyTarget, notification: Notification): Promise<void> {
    const failure = await tried(() => target.send(notification), this.#parts.sleep);
    if (failure === undefined) return;
    this.#parts.onFailure(`${target.name} was not notified (${notification.event}): ${failure.why}`);
  }
}

/** Sends once, and twice more as long as the failure may pass. @returns the last failure */
export async function tried(
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

/** A text without secrets, by the built-in rules: what may leave this machine. */
export function withoutSecrets(text: string): string {
  return redactText(text, REDACTION);
}

/** Secrets are taken out before the text is cut: half of one is no longer recognised. */
function shownText(text: string): string {
  return printableCut(withoutSecrets(text), MAX_CHARS);
}
