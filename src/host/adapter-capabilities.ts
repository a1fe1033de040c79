import type { DecisionPoint } from '../records/guidance.ts';

/** What an SDK lets advice do at one decision point. */
export interface PointCapability {
  /**
   * - `ephemeral`: in one model request only; not in later ones, nor in stored history
   * - `persistent`: stays in the conversation, as part of its history
   * - `unsupported`: there is no channel; advice is recorded as undelivered
   */
  readonly persistence: 'ephemeral' | 'persistent' | 'unsupported';
  /**
   * - `before`: the model reads it before it takes the decision
   * - `after`: it reads it with the next request, when this decision is taken
   * - `forces-turn`: delivering it makes the agent go on for another turn; off by default, at most once a run
   */
  readonly timing: 'before' | 'after' | 'forces-turn';
  /** How it reaches the model, in the SDK's words; what `delivered(channel)` records. Absent when unsupported. */
  readonly channel?: string;
  /** What a user should know, one sentence. */
  readonly note?: string;
}

/** What an adapter can do, per decision point. Plain data: `coxswain doctor` prints it. */
export type AdapterCapabilities = Readonly<Record<DecisionPoint, PointCapability>>;
