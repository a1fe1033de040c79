import { cutMessage, messageOf } from '../../base/error.ts';
import type { SpeakerSource } from './advice-slices.ts';
import type { Speaker } from './speaker.ts';

/**
 * A fault of a provider or observer. Plain data.
 *
 * - `provider-failed`: the provider or its filesystem threw
 * - `provider-invalid`: the provider returned an invalid draft
 * - `provider-overrun`: the provider exceeded its time limit; its feedback was used
 * - `provider-recursed`: the provider requested feedback itself; the inner request returned none
 * - `fault-handler-failed`: `onFault` threw
 */
export interface FeedbackFault {
  /** The name of the provider or observer. */
  readonly provider: string;
  readonly source: SpeakerSource;
  readonly phase: 'trigger' | 'shouldRun' | 'provide';
  readonly code:
    | 'provider-failed'
    | 'provider-invalid'
    | 'provider-overrun'
    | 'provider-recursed'
    | 'fault-handler-failed';
  /** At most 300 characters. */
  readonly message: string;
}

/** Called for each fault. If it throws, that is recorded as another fault. */
export type FeedbackFaultHandler = (fault: FeedbackFault) => void;

const NO_FAULTS: readonly FeedbackFault[] = [];

/** The faults of one evaluation. `report` never throws. */
export class FeedbackFaults {
  readonly #faults: FeedbackFault[] = [];
  readonly #onFault: FeedbackFaultHandler | undefined;
  readonly #redact: ((text: string) => string) | undefined;

  constructor(onFault: FeedbackFaultHandler | undefined, redact: ((text: string) => string) | undefined) {
    this.#onFault = onFault;
    this.#redact = redact;
  }

  list(): readonly FeedbackFault[] {
    return this.#faults.length === 0 ? NO_FAULTS : [...this.#faults];
  }

  report(speaker: Speaker, phase: FeedbackFault['phase'], code: FeedbackFault['code'], message: string): void {
    const fault: FeedbackFault = {
      provider: speaker.provider.name,
      source: speaker.source,
      phase,
      code,
      message: cutMessage(message, this.#redact),
    };
    this.#faults.push(fault);
    try {
      this.#onFault?.(fault);
    } catch (thrown) {
      this.#faults.push({
        ...fault,
        code: 'fault-handler-failed',
        message: cutMessage(messageOf(thrown), this.#redact),
      });
    }
  }

  reportThrown(speaker: Speaker, phase: FeedbackFault['phase'], thrown: unknown): void {
    this.report(speaker, phase, 'provider-failed', messageOf(thrown));
  }
}

/**
 * A fault of a guidance provider or model-backed classifier. The agent never sees it. Plain JSON.
 *
 * - `provider-misconfigured`: the configuration is out of range or has no valid provider
 * - `provider-failed`: `classify` or `provide` threw
 * - `provider-invalid`: the provider returned an invalid value, such as a promise
 * - `provider-recursed`: the provider collected guidance itself; the inner request returned none
 * - `model-timed-out`, `model-rejected`, `model-junk`, `model-unknown-id`: faults of a model-backed classifier
 */
export interface GuidanceFault {
  /** The name of the provider or model-backed classifier. */
  readonly provider: string;
  readonly phase: 'config' | 'classify' | 'provide' | 'collect' | 'model';
  readonly code:
    | 'provider-misconfigured'
    | 'provider-failed'
    | 'provider-invalid'
    | 'provider-recursed'
    | 'model-timed-out'
    | 'model-rejected'
    | 'model-junk'
    | 'model-unknown-id';
  /** At most 300 characters. */
  readonly message: string;
}
