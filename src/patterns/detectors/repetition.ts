import { share } from '../../base/shape.ts';
import { WAITABLE } from '../../calls/error-class.ts';
import type { Step } from '../step.ts';
import { FEATURES, Structure, type StructureSnapshot } from '../structure.ts';
import { defineDetector, type DetectorFactory } from './define-detector.ts';
import { withEvidence } from './level.ts';
import trained from './repetition-weights.json' with { type: 'json' };

/** Options of `repetitionDetector`. */
export interface RepetitionOptions {
  /** Chance, 0 to 1, at which it warns; default as trained, see `repetition-weights.json`. */
  readonly warnAt?: number;
}

interface State {
  readonly structure: StructureSnapshot | null;
  readonly evidence: readonly number[];
  /** The agent has paused since the last call. */
  readonly waited: boolean;
}

/** The contribution of one feature to the score of a call. */
export interface FeatureShare {
  readonly feature: string;
  /** 0 to 1. */
  readonly value: number;
  /** Weight times value, in logits: above 0 it speaks for being stuck. */
  readonly adds: number;
}

/**
 * The last calls resemble each other too much: the same answers, the same words in the arguments, failures, no new line, no change. A
 * logistic score over structure alone, which finds what no single rule names. Weights and cross-validated figures:
 * `repetition-weights.json`, made by `scripts/train-repetition.ts` from labelled calls of recorded runs.
 *
 * Warns at:
 * - A chance of 0.4 (`warnAt`), over the last 8 calls; strong at 0.7; no hint.
 * - It stays silent while a rule is at `warn`.
 *
 * Resets on:
 * - A change, also one made before.
 * - A message of the user.
 * - Something new by another tool since the call was made before.
 *
 * Ignores:
 * - Polls, acknowledgements, and failures after a pause where waiting is right.
 * - An answer or failure that did not occur twice before.
 * - Calls of which none had the same result before, or one had another.
 * - Fewer than four calls.
 */
export const repetitionDetector: DetectorFactory<RepetitionOptions> = defineDetector<RepetitionOptions, State>(
  'repetition',
  { warnAt: share(trained.threshold) },
  ({ warnAt }, state) => {
    const structure = new Structure(state?.structure ?? undefined);
    let evidence = state?.evidence ?? [];
    let waited = state?.waited ?? false;
    return {
      observe(step, context) {
        if (step.kind === 'wait') waited = true;
        if (step.transparent || step.resultMissing) return undefined;
        const isPatient = waited && step.failure !== undefined && WAITABLE.has(step.failure.category);
        waited = false;
        structure.observe(step, context);
        const recurs = !isPatient && !structure.cameBack && isSameAgain(structure, step);
        const chance = recurs ? chanceOf(structure.features()) : 0;
        if (!recurs || chance < warnAt) {
          evidence = [];
          return undefined;
        }
        evidence = withEvidence(evidence, step.index);
        return [
          {
            kind: 'repetition',
            key: step.tool,
            stuck: true,
            level: chance >= (1 + warnAt) / 2 ? 'strong' : 'warn',
            confidence: Math.round(Math.min(0.99, chance) * 100) / 100,
            occurrences: evidence.length,
            tool: step.tool,
            evidence,
            vague: true,
          },
        ];
      },
      snapshot: () => ({ structure: structure.snapshot(), evidence, waited }),
    };
  },
);

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
export function chanceOf(features: readonly number[]): number {
  const sum = sharesOf(features).reduce((total, { adds }) => total + adds, trained.bias);
  return 1 / (1 + Math.exp(-sum));
}

/** The contribution of each feature, in the order of `FEATURES`. */
export function sharesOf(features: readonly number[]): readonly FeatureShare[] {
  return FEATURES.map((feature, at) => {
    const value = features[at] ?? 0;
    return { feature, value, adds: value * trained.weights[feature] };
  });
}
