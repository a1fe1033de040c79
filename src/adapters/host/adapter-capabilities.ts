import type { DecisionPoint } from '../../core/records/spoken-advice.ts';

/** How an SDK delivers advice at one decision point. */
export interface PointCapability {
  /**
   * - `ephemeral`: the text is in one model request only, not in later requests or the stored history
   * - `persistent`: the text becomes part of the conversation history
   * - `unsupported`: there is no channel; advice is recorded as undelivered
   */
  readonly persistence: 'ephemeral' | 'persistent' | 'unsupported';
  /**
   * - `before`: the model reads the advice before the decision
   * - `after`: the model reads the advice with the next request, after the decision
   * - `forces-turn`: delivery makes the agent take another turn; off by default, at most once per run
   */
  readonly timing: 'before' | 'after' | 'forces-turn';
  /** How the advice reaches the model, in the SDK's terms. `delivered(channel)` records this value. Absent if unsupported. */
  readonly channel?: string;
  /** One sentence of explanation for users. */
  readonly note?: string;
}

/** The capabilities of an adapter by decision point. Plain data; `coxswain doctor` prints it. */
export type AdapterCapabilities = Readonly<Record<DecisionPoint, PointCapability>>;
