import type { NoiseOptions } from './advice/decide-advice.ts';
import { deadlineFeedback } from './feedback/deadline-feedback.ts';
import { paceFeedback } from './feedback/pace-feedback.ts';
import { patternFeedback } from './feedback/pattern-feedback.ts';
import type { FeedbackTrigger } from './prompt/feedback-trigger.ts';
import type { SteeringOptions } from './steering-options.ts';

/** When the feedback of the standard set is asked, where that is not the provider's own trigger. */
export const STANDARD_TRIGGERS: { readonly deadline: FeedbackTrigger; readonly pace: FeedbackTrigger } = {
  deadline: { everyNSeconds: 30 },
  pace: { everyNCalls: 10 },
};

/** How rare the advice of the standard set is. */
export const STANDARD_NOISE: Required<Pick<NoiseOptions, 'callsPerAdvice' | 'maxPerRun'>> = {
  callsPerAdvice: 50,
  maxPerRun: 6,
};

/**
 * The steering we would run ourselves, and the default: the deadline each time half of what was left is gone, the pace
 * when a limit is known, and stuck patterns, in the words of the run itself. It names no tool but those that the agent
 * has called. Guidance is left to those who know the agent: its texts name tools.
 *
 * Everyone whose trigger fires speaks, each at its own cadence (`all`, `per-provider`): with the shared cadence a provider
 * that speaks often would starve the others. `docs/standard-steering.md` has the whole as a table.
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
