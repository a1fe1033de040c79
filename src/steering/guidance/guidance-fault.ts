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
