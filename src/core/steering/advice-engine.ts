import { cutMessage, messageOf } from '../base/error.ts';
import type { DerivedDraft } from '../records/derived-payload.ts';
import type { SpeakerSource } from './feedback/advice-slices.ts';
import { STEERING_DEFAULTS } from './prompt/define-provider.ts';

/** The options of every evaluation of providers, observers and classifiers. */
export interface AskOptions {
  /** Keys (`feedback:NAME`, `assessment:NAME`, `guidance:NAME`) that do not run. Default: none. */
  readonly disabled?: ReadonlySet<string> | undefined;
  /** A monotonic clock in milliseconds, such as `performance.now`. Default: overruns are not detected. */
  readonly measureMs?: (() => number) | undefined;
  /** Time limit of a provider in milliseconds; default 50. A late answer is still used. */
  readonly timeLimitMs?: number | undefined;
  /** Called for each overrun with the key. Must not throw. */
  readonly onOverrun?: ((key: string, durationMs: number) => void) | undefined;
  /** Removes secrets from drafts, reasons and fault messages. Must not throw. Default: no change. */
  readonly redact?: ((text: string) => string) | undefined;
}

/**
 * A fault of a provider, an observer or a model-backed classifier. The agent never sees it. Plain JSON.
 *
 * - `provider-misconfigured`: the configuration is out of range or has no valid provider
 * - `provider-failed`: the provider or its filesystem threw
 * - `provider-invalid`: the provider returned an invalid value, such as a promise
 * - `provider-overrun`: the provider exceeded its time limit; its feedback was used
 * - `provider-recursed`: the provider requested advice itself; the inner request returned none
 * - `fault-handler-failed`: `onFault` threw
 * - `model-timed-out`, `model-rejected`, `model-junk`, `model-unknown-id`: faults of a model-backed classifier
 */
export interface AdviceFault {
  readonly provider: string;
  readonly phase: 'trigger' | 'shouldRun' | 'config' | 'classify' | 'provide' | 'collect' | 'model';
  readonly code:
    | 'provider-misconfigured'
    | 'provider-failed'
    | 'provider-invalid'
    | 'provider-overrun'
    | 'provider-recursed'
    | 'fault-handler-failed'
    | 'model-timed-out'
    | 'model-rejected'
    | 'model-junk'
    | 'model-unknown-id';
  readonly message: string;
}

export type GuidanceFault = AdviceFault;

export interface FeedbackFault extends AdviceFault {
  readonly source: SpeakerSource;
}

/** Called for each fault. If it throws, that is recorded as another fault. */
export type FeedbackFaultHandler = (fault: FeedbackFault) => void;

export function faultDraft({ provider, phase, code, message }: AdviceFault): DerivedDraft {
  return { kind: 'provider_failed', provider_name: provider, phase, code, message };
}

/** The faults of one evaluation of feedback. `report` never throws. */
export class FeedbackFaults {
  readonly #faults: FeedbackFault[] = [];
  readonly #onFault: FeedbackFaultHandler | undefined;
  readonly #redact: AskOptions['redact'];

  constructor(onFault: FeedbackFaultHandler | undefined, redact: AskOptions['redact']) {
    this.#onFault = onFault;
    this.#redact = redact;
  }

  list(): readonly FeedbackFault[] {
    return [...this.#faults];
  }

  report(
    { provider, source }: { readonly provider: { readonly name: string }; readonly source: SpeakerSource },
    phase: AdviceFault['phase'],
    code: AdviceFault['code'],
    message: string,
  ): void {
    const fault = { provider: provider.name, source, phase, code, message: cutMessage(message, this.#redact) };
    this.#faults.push(fault);
    try {
      this.#onFault?.(fault);
    } catch (thrown) {
      const ownMessage = cutMessage(messageOf(thrown), this.#redact);
      this.#faults.push({ ...fault, code: 'fault-handler-failed', message: ownMessage });
    }
  }
}

/**
 * @param keyOf  called only after an overrun
 * @param onLate  called with the duration of an overrun, before `onOverrun`
 */
export function askInTime<Answer>(
  ask: () => Answer,
  keyOf: () => string,
  { measureMs, onOverrun, timeLimitMs = STEERING_DEFAULTS.providerTimeLimitMs }: AskOptions,
  onLate?: (answer: Answer, message: string) => void,
): Answer {
  if (measureMs === undefined) return ask();
  const startedMs = measureMs();
  const answer = ask();
  const durationMs = measureMs() - startedMs;
  if (durationMs > timeLimitMs) {
    onLate?.(answer, `took ${Math.round(durationMs)} ms, at most ${timeLimitMs} ms are allowed`);
    onOverrun?.(keyOf(), durationMs);
  }
  return answer;
}

/** A promise is an invalid answer. If it is rejected later, the process must not end. */
export function ignoreRejection(answer: unknown): void {
  if (answer instanceof Promise) answer.catch(() => undefined);
}
