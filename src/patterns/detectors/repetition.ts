import type { Json } from '../../base/json.ts';
import { WAITABLE } from '../../calls/error-class.ts';
import type { PatternDetector } from '../pattern-detector.ts';
import type { Step } from '../step.ts';
import { FEATURES, Structure, type StructureSnapshot } from '../structure.ts';
import { share } from '../../base/shape.ts';
import { defineDetector, type DetectorDefinition } from './define-detector.ts';
import { withEvidence } from './level.ts';
import trained from './repetition-weights.json' with { type: 'json' };

/** Options of `repetitionDetector`. */
export interface RepetitionOptions {
  /** Chance, 0 to 1, at which it warns; default as trained, see `repetition-weights.json`. */
  readonly warnAt?: number;
}

interface State {
  readonly structure: StructureSnapshot;
  readonly evidence: readonly number[];
  /** The agent has paused since the last call. */
  readonly waited: boolean;
}

/** What one feature adds to the score of a call. */
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
 * Begins anew at:
 * - A change, also one made before.
 * - A message of the user.
 * - Something new by another tool since the call was made before.
 *
 * Does not count:
 * - Polls, acknowledgements, and failures after a pause where waiting is right.
 * - An answer or failure that did not occur twice before.
 * - Calls of which none had the same result before, or one had another.
 * - Fewer than four calls.
 */
export function repetitionDetector(options: RepetitionOptions = {}): PatternDetector {
  const { warnAt = trained.threshold } = options;
  return {
    name: 'repetition',
    start(snapshot?: Json) {
      // A snapshot given to a detector is its own: the analysis keeps them by name.
      const kept = snapshot as unknown as State | undefined;
      const structure = new Structure(kept?.structure);
      let evidence = kept?.evidence ?? [];
      let waited = kept?.waited ?? false;
      return {
        observe(step, context) {
          if (step.kind === 'wait') waited = true;
          if (step.transparent || step.resultMissing) return undefined;
          // Who pauses until a service is there, and is told that it is not, gives it time.
          const isPatient = waited && step.failure !== undefined && WAITABLE.has(step.failure.category);
          waited = false;
          structure.observe(step, context);
          const may = !isPatient && !structure.cameBack && isSameAgain(structure, step);
          const chance = may ? chanceOf(structure.features()) : 0;
          if (!may || chance < warnAt) {
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
        snapshot: () => ({ structure: structure.snapshot(), evidence, waited }) as unknown as Json,
      };
    },
  };
}

/** Four calls: fewer prove little. */
const MIN_FILLED = 0.5;
/** Two of eight. */
const MIN_SAME = 0.25;
/** One of eight. */
const MIN_AGAIN = 0.125;

/**
 * Whether the answer itself came before, or the failure: where each answer is another one, the calls may be alike by their nature
 * (pages, batches, readings of a gauge), whatever their score. So may acknowledgements be, and answers to whoever waits for a job.
 */
export function isSameAgain(structure: Structure, step: Step): boolean {
  if (step.acknowledged || step.kind === 'poll') return false;
  if (structure.again < MIN_AGAIN || structure.moved > 0 || structure.filled < MIN_FILLED) return false;
  return (step.failure === undefined ? structure.sameAnswer : structure.sameCause) >= MIN_SAME;
}

/** The trained chance that the agent is stuck, 0 to 1. @param features  as `Structure.features` gives them */
export function chanceOf(features: readonly number[]): number {
  const sum = sharesOf(features).reduce((total, { adds }) => total + adds, trained.bias);
  return 1 / (1 + Math.exp(-sum));
}

/** What each feature adds, in the order of `FEATURES`. */
export function sharesOf(features: readonly number[]): readonly FeatureShare[] {
  return FEATURES.map((feature, at) => {
    const value = features[at] ?? 0;
    return { feature, value, adds: value * trained.weights[feature] };
  });
}

export const repetition: DetectorDefinition<RepetitionOptions> = defineDetector<RepetitionOptions>(
  { warnAt: share(trained.threshold) },
  repetitionDetector,
);
