import { cutMessage, messageOf } from '../base/error.ts';
import { RingBuffer } from '../base/ring-buffer.ts';

const RETAINED_FAULTS = 100;

export const FAULT_CODES = ['reducer-failed', 'subscriber-failed', 'dispatch-depth', 'fault-handler-failed'] as const;

/**
 * A fault during a dispatch. It is not thrown to the caller. Plain JSON.
 *
 * - `reducer-failed`: a reducer threw, or its operation could not be applied; its slice is unchanged
 * - `subscriber-failed`: a subscriber threw or its promise was rejected
 * - `dispatch-depth`: an event was not dispatched, because events kept causing each other
 * - `fault-handler-failed`: `onFault` threw
 */
export interface SessionFault {
  readonly code: (typeof FAULT_CODES)[number];
  /** At most 300 characters. */
  readonly message: string;
  /** Type of the processed event. For `dispatch-depth`, type of the refused event. */
  readonly eventType: string;
  /** Index of the processed event. */
  readonly eventIndex: number;
  /** Unix milliseconds of that event. */
  readonly atMs: number;
  /** The name of the slice whose reducer failed. */
  readonly slice?: string;
}

/**
 * Called for each fault. It may throw and may dispatch. It is not called for faults that happen while it runs.
 *
 * @param thrown  the thrown value, for logging with a stack; undefined for `dispatch-depth`
 */
export type FaultHandler = (fault: SessionFault, thrown: unknown) => void;

export type FaultPlace = Omit<SessionFault, 'message'>;

export interface FaultLogOptions {
  readonly onFault?: FaultHandler | undefined;
  /** Removes secrets from messages. Default: no change. */
  readonly redact?: ((text: string) => string) | undefined;
}

/** The faults of one session: the last 100 faults and an exact count. `report` never throws. */
export class FaultLog {
  readonly #ring: RingBuffer<SessionFault>;
  readonly #onFault: FaultHandler | undefined;
  readonly #redact: ((text: string) => string) | undefined;
  #isReporting = false;

  constructor({ onFault, redact }: FaultLogOptions, faults: readonly SessionFault[], count: number) {
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
    this.report(place, messageOf(thrown), thrown);
  }

  report(place: FaultPlace, message: string, thrown?: unknown): void {
    // The fault is frozen, so that the results of `recent` may be shared.
    const fault: SessionFault = Object.freeze({ ...place, message: cutMessage(message, this.#redact) });
    this.#ring.push(fault);
    if (this.#onFault === undefined || this.#isReporting) return;
    this.#isReporting = true;
    try {
      this.#onFault(fault, thrown);
    } catch (failure) {
      this.report({ ...place, code: 'fault-handler-failed' }, messageOf(failure));
    } finally {
      this.#isReporting = false;
    }
  }
}
