import type { NoiseOptions } from './advice/decide-advice.ts';
import { deadlineFeedback } from './feedback/deadline-feedback.ts';
import { paceFeedback } from './feedback/pace-feedback.ts';
import { patternFeedback } from './feedback/pattern-feedback.ts';
import type { FeedbackTrigger } from './prompt/feedback-trigger.ts';
import type { SteeringOptions } from './steering-options.ts';

/** Triggers of the standard set that differ from the providers' defaults. */
export const STANDARD_TRIGGERS: { readonly deadline: FeedbackTrigger; readonly pace: FeedbackTrigger } = {
  deadline: { everyNSeconds: 30 },
  pace: { everyNCalls: 10 },
};

/** Noise limits of the standard set. */
export const STANDARD_NOISE: Required<Pick<NoiseOptions, 'callsPerAdvice' | 'maxPerRun'>> = {
  callsPerAdvice: 50,
  maxPerRun: 6,
};

/**
 * The default steering: the deadline each time the remaining time has halved, the pace if there is a deadline or budget,
 * and stuck patterns with quotations from the run. It names only tools that the agent has called; guidance, whose texts
 * name tools, is left to users who know the agent.
 *
 * Every provider whose trigger fires gives feedback, at its own cadence (`all`, `per-provider`): with a shared cadence a
 * frequent provider would starve the others. `docs/standard-steering.md` has a table.
 */
export function standardSteering(): SteeringOptions {
  return {
    delivery: 'all',
    cadence: 'per-provider',
    noise: STANDARD_NOISE,
    feedback: [
      { provider: deadlineFeedback({ spacing: 'halving' }), trigger: STANDARD_TRIGGERS.deadline },
      { provider: patternFeedback() },
      { provider: paceFeedback(), trigger: STANDARD_TRIGGERS.pace },
    ],
    guidance: [],
  };
}
