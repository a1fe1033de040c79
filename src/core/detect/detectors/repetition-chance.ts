import type { Step } from '../patterns/step.ts';
import { FEATURES, type Structure } from '../patterns/structure.ts';
import trained from './repetition-weights.json' with { type: 'json' };

/** Six of eight calls: with fewer, two rounds of three calls look like a loop before the third begins. */
const MIN_FILLED = 0.75;
const MIN_SAME = 0.25;
const MIN_AGAIN = 0.125;

/**
 * If each answer is new, the calls may be alike by nature (pages, batches, readings of a gauge), whatever their score.
 */
export function isSameAgain(structure: Structure, step: Step): boolean {
  if (step.acknowledged || step.kind === 'poll') return false;
  if (structure.again < MIN_AGAIN || structure.moved > 0 || structure.filled < MIN_FILLED) return false;
  return (step.failure === undefined ? structure.sameAnswer : structure.sameCause) >= MIN_SAME;
}

/** The trained chance that the agent is stuck, 0 to 1. `features`: as `Structure.features` returns them. */
export function stuckChance(features: readonly number[]): number {
  const sum = FEATURES.reduce(
    (total, feature, index) => total + (features[index] ?? 0) * trained.weights[feature],
    trained.bias,
  );
  return 1 / (1 + Math.exp(-sum));
}
