import { messageOf } from '../base/error.ts';
import { RingBuffer } from '../base/ring-buffer.ts';

/** The newest faults that a session keeps; all of them are counted. */
const RETAINED_FAULTS = 100;
const MAX_MESSAGE_LENGTH = 300;
/** What is looked at of a message before it is cut. */
const MAX_READ_CHARS = 16_000;

/**
 * Something that went wrong inside a dispatch and was kept away from the caller. Plain JSON.
 *
 * - `reducer-failed`: a reducer threw, or its operation could not be applied; its slice stayed as it was
 * - `subscriber-failed`: a subscriber threw or its promise was rejected
 * - `dispatch-depth`: an event was not dispatched, because events kept causing each other
 * - `fault-handler-failed`: `onFault` threw
 */
export interface SessionFault {
  readonly code: 'reducer-failed' | 'subscriber-failed' | 'dispatch-depth' | 'fault-handler-failed';
  /** At most 300 characters. */
  readonly message: string;
  /** Name of the event that was being processed; for `dispatch-depth`, of the one that was not dispatched. */
  readonly eventType: string;
  /** Running number of the event that was being processed. */
  readonly eventIndex: number;
  /** Unix milliseconds of that event. */
  readonly atMs: number;
  /** The slice whose reducer failed. */
  readonly slice?: string;
}

/**
 * Told of each fault when it happens. It may throw and may dispatch; while it runs, further faults are recorded
 * without it being told.
 *
 * @param thrown what was thrown, for logging with a stack; undefined for `dispatch-depth`
 */
export type FaultHandler = (fault: SessionFault, thrown: unknown) => void;

/** A fault before it has a message. */
export type FaultPlace = Omit<SessionFault, 'message'>;

/** How faults are kept. */
export interface FaultLogOptions {
  readonly onFault?: FaultHandler | undefined;
  /** Takes secrets out of a message. Default: it stays as it is. */
  readonly redact?: ((text: string) => string) | undefined;
}

/** The faults of one session: the last 100 and an exact count. `report` never throws. */
export class FaultLog {
  readonly #ring: RingBuffer<SessionFault>;
  readonly #onFault: FaultHandler | undefined;
  readonly #redact: (text: string) => string;
  #telling = false;

  constructor({ onFault, redact = asItIs }: FaultLogOptions, faults: readonly SessionFault[], count: number) {
    this.#ring = RingBuffer.restore(RETAINED_FAULTS, faults, count);
    this.#onFault = onFault;
    this.#redact = redact;
  }

  get count(): number {
    return this.#ring.total;
  }

  recent(): readonly SessionFault[] {
    return this.#ring.toArray();
  }

  reportThrown(place: FaultPlace, thrown: unknown): void {
    this.report(place, textOf(thrown), thrown);
  }

  report(place: FaultPlace, message: string, thrown?: unknown): void {
    // Cut afterwards: half a secret would not be recognised.
    const whole = this.#redact(message.slice(0, MAX_READ_CHARS));
    // Frozen, so that what `recent` gives out may be shared.
    const fault: SessionFault = Object.freeze({ ...place, message: whole.slice(0, MAX_MESSAGE_LENGTH) });
    this.#ring.push(fault);
    if (this.#onFault === undefined || this.#telling) return;
    this.#telling = true;
    try {
      this.#onFault(fault, thrown);
    } catch (failure) {
      this.report({ ...place, code: 'fault-handler-failed' }, textOf(failure));
    } finally {
      this.#telling = false;
    }
  }
}

function asItIs(text: string): string {
  return text;
}

/** What user code throws may be anything, also a value that refuses to become text. */
function textOf(thrown: unknown): string {
  try {
    return messageOf(thrown);
  } catch {
    return 'something was thrown that has no text';
  }
}
