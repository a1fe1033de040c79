import type { NoiseOptions } from './advice/advice.ts';
import { deadlineFeedback, paceFeedback } from './feedback/built-in-feedback.ts';
import { patternFeedback } from './feedback/pattern-feedback.ts';
import type { FeedbackTrigger } from './prompt/feedback-provider.ts';
import type { SteeringOptions } from './steering-options.ts';

export const STANDARD_TRIGGERS: { readonly deadline: FeedbackTrigger; readonly pace: FeedbackTrigger } = {
  deadline: { everyNSeconds: 30 },
  pace: { everyNCalls: 1 },
};

export interface StandardSteeringOptions {
  readonly add?: NonNullable<SteeringOptions['feedback']>;
}

export const STANDARD_NOISE: Required<Pick<NoiseOptions, 'callsPerAdvice' | 'maxPerRun'>> = {
  callsPerAdvice: 50,
  maxPerRun: 6,
};

/**
 * Returns the default steering. It reports the deadline each time the remaining time has halved. It reports the pace if
 * there is a deadline or budget. It reports stuck patterns. Its texts name only tools that the
 * agent has called. It contains no guidance, because guidance texts name tools. Users who know the agent can add guidance.
 *
 * Every provider whose trigger fires gives feedback, at its own cadence (`all`, `per-provider`). With a shared cadence, a
 * frequent provider would prevent the others from giving feedback. `docs/standard-steering.md` has a table.
 *
 * @param options.add  feedback providers of your own, after those of the set; each has its own limits of a run
 */
export function standardSteering({ add = [] }: StandardSteeringOptions = {}): SteeringOptions {
  return {
    delivery: 'all',
    cadence: 'per-provider',
    noise: STANDARD_NOISE,
    feedback: [
      { provider: deadlineFeedback({ spacing: 'halving' }), trigger: STANDARD_TRIGGERS.deadline },
      { provider: patternFeedback() },
      { provider: paceFeedback(), trigger: STANDARD_TRIGGERS.pace },
      ...add,
    ],
    guidance: [],
  };
}
