import type { Step } from '../step.ts';
import { FEATURES, type Structure } from '../structure.ts';
import trained from './repetition-weights.json' with { type: 'json' };

/** The contribution of one feature to the score of a call. */
export interface FeatureShare {
  readonly feature: string;
  /** 0 to 1. */
  readonly value: number;
  /** Weight times value, in logits: above 0 it speaks for being stuck. */
  readonly adds: number;
}

/** Four of eight calls: fewer prove little. */
const MIN_FILLED = 0.5;
const MIN_SAME = 0.25;
const MIN_AGAIN = 0.125;

/**
 * Returns true if the answer or the failure itself recurs. If each answer is new, the calls may be alike by nature (pages, batches,
 * readings of a gauge), whatever their score.
 */
export function isSameAgain(structure: Structure, step: Step): boolean {
  if (step.acknowledged || step.kind === 'poll') return false;
  if (structure.again < MIN_AGAIN || structure.moved > 0 || structure.filled < MIN_FILLED) return false;
  return (step.failure === undefined ? structure.sameAnswer : structure.sameCause) >= MIN_SAME;
}

/** The trained chance that the agent is stuck, 0 to 1. @param features  as `Structure.features` returns them */
export function stuckChance(features: readonly number[]): number {
  const sum = featureShares(features).reduce((total, { adds }) => total + adds, trained.bias);
  return 1 / (1 + Math.exp(-sum));
}

/** The contribution of each feature, in the order of `FEATURES`. */
export function featureShares(features: readonly number[]): readonly FeatureShare[] {
  return FEATURES.map((feature, index) => {
    const value = features[index] ?? 0;
    return { feature, value, adds: value * trained.weights[feature] };
  });
}
