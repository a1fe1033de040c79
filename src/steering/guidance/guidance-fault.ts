import { messageOf } from '../../base/error.ts';

/**
 * A fault of a guidance provider or model-backed classifier, which the agent never sees. Plain JSON.
 *
 * - `provider-misconfigured`: the configuration is out of range or has no valid provider
 * - `provider-failed`: `classify` or `provide` threw
 * - `provider-invalid`: it returned a value of another shape, such as a promise
 * - `provider-recursed`: it collected guidance itself; the inner request returned none
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
/** A longer message is cut before redaction. */
const MAX_READ_CHARS = 16_000;

/**
 * The message of a thrown value, even of one that cannot be converted to text.
 *
 * @param redact  removes secrets before the message is cut: half a secret would not be recognised
 */
export function thrownText(thrown: unknown, redact: (text: string) => string = (text) => text): string {
  try {
    return redact(messageOf(thrown).slice(0, MAX_READ_CHARS)).slice(0, MAX_MESSAGE_CHARS);
  } catch {
    return 'something was thrown that has no text';
  }
}
