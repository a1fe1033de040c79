import type { DecisionPoint } from '../records/guidance.ts';

/** Delivery of advice at one decision point of an SDK. */
export interface PointCapability {
  /**
   * - `ephemeral`: in one model request only, not in later ones or in the stored history
   * - `persistent`: part of the conversation's history
   * - `unsupported`: there is no channel; advice is recorded as undelivered
   */
  readonly persistence: 'ephemeral' | 'persistent' | 'unsupported';
  /**
   * - `before`: the model reads it before the decision
   * - `after`: the model reads it with the next request, after the decision
   * - `forces-turn`: delivery makes the agent take another turn; off by default, at most once per run
   */
  readonly timing: 'before' | 'after' | 'forces-turn';
  /** How it reaches the model, in the SDK's words, as recorded by `delivered(channel)`. Absent if unsupported. */
  readonly channel?: string;
  /** One sentence for users. */
  readonly note?: string;
}

/** The capabilities of an adapter, per decision point. Plain data: `coxswain doctor` prints it. */
export type AdapterCapabilities = Readonly<Record<DecisionPoint, PointCapability>>;
