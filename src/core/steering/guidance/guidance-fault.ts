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
