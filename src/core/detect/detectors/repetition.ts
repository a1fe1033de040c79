import { share } from '../../base/shape.ts';
import { WAITABLE_CAUSES } from '../calls/error-class.ts';
import { Structure, type StructureSnapshot } from '../patterns/structure.ts';
import { defineDetector, type DetectorFactory } from './define-detector.ts';
import { appendEvidence } from './level.ts';
import { stuckChance, isSameAgain } from './repetition-chance.ts';
import trained from './repetition-weights.json' with { type: 'json' };

interface State {
  readonly structure: StructureSnapshot | null;
  readonly evidence: readonly number[];
  readonly waited: boolean;
}

/**
 * The last calls and their results are too similar: the same results, the same words in the arguments, failures, no new line, no change. A
 * logistic regression over structural features finds loops that no single rule finds. Its weights and cross-validated figures are in
 * `repetition-weights.json`; `scripts/train-repetition.ts` trains it on labelled calls of recorded runs.
 *
 * Warns at:
 * - A probability of 0.4 (`warnAt`), over the last 8 calls; strong at 0.7; no hint.
 * - Not while another detector is at `warn`.
 *
 * Resets on:
 * - A change, also one that was already made before.
 * - A message of the user.
 * - A new result of another tool since the previous such call, or any new result before a failure in another form.
 *
 * Ignores:
 * - Polls, acknowledgements, and failures after a pause for which waiting is right.
 * - A result or failure that did not occur twice before.
 * - Calls that had another result before, or never the same result.
 * - Fewer than six calls.
 */
export const repetitionDetector: DetectorFactory<'warnAt'> = defineDetector(
  'repetition',
  { warnAt: share(trained.threshold) },
  ({ warnAt }, state?: State) => {
    const structure = new Structure(state?.structure ?? undefined);
    let evidence = state?.evidence ?? [];
    let waited = state?.waited ?? false;
    return {
      observe(step, context) {
        if (step.kind === 'wait') waited = true;
        if (step.transparent || step.resultMissing) return undefined;
        const isPatient = waited && step.failure !== undefined && WAITABLE_CAUSES.has(step.failure.category);
        waited = false;
        structure.observe(step, context);
        const isRecurring = !isPatient && !structure.cameBack && isSameAgain(structure, step);
        const chance = isRecurring ? stuckChance(structure.features()) : 0;
        if (!isRecurring || chance < warnAt) {
          evidence = [];
          return undefined;
        }
        evidence = appendEvidence(evidence, step.index);
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
