import { messageOf } from '../../base/error.ts';

/**
 * What went wrong in somebody's guidance and was kept away from the agent. Plain JSON.
 *
 * - `provider-misconfigured`: a configuration is out of range, or its provider is not one
 * - `provider-failed`: `classify` or `provide` threw
 * - `provider-invalid`: it returned something of another shape (a promise too)
 * - `provider-recursed`: a provider collected guidance itself; that inner request gave nothing
 * - `model-timed-out`, `model-rejected`, `model-junk`, `model-unknown-id`: the same for a model-backed classifier
 */
export interface GuidanceFault {
  /** Name of the provider or model classifier. */
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

const MAX_MESSAGE_CHARS = 300;
/** What is looked at of a message before it is cut. */
const MAX_READ_CHARS = 16_000;

/**
 * The message of anything that was thrown, also of a value that refuses to become text.
 *
 * @param redact  takes secrets out before the message is cut: half a secret would not be recognised
 */
export function thrownText(thrown: unknown, redact: (text: string) => string = (text) => text): string {
  try {
    return redact(messageOf(thrown).slice(0, MAX_READ_CHARS)).slice(0, MAX_MESSAGE_CHARS);
  } catch {
    return 'something was thrown that has no text';
  }
}
