import type { FeedbackProvider } from '../prompt/feedback-provider.ts';
import { PATTERN_SPEAKER, patternSpeaker } from './pattern-speaker.ts';
import type { PatternSpeakerOptions } from './pattern-speaker.ts';
import { defineProvider, type FeedbackDefinition } from './define-provider.ts';

/**
 * Speaks when the trajectory shows a `stall`. Silent without a trajectory. Default trigger: `onPattern`, once a level.
 */
export function stallFeedback(options: PatternSpeakerOptions = {}): FeedbackProvider {
  return patternSpeaker(
    {
      name: 'Stall',
      kind: 'stall',
      summary: 'Your recent tool calls have brought nothing new.',
      observation: ({ occurrences }) => `${occurrences} tool calls since the last new result or change.`,
      suggestions: ['Write down what is still missing for the goal.', 'Take a step you have not tried yet.'],
    },
    options,
  );
}

export const stall: FeedbackDefinition<PatternSpeakerOptions> = defineProvider<PatternSpeakerOptions>(
  PATTERN_SPEAKER,
  stallFeedback,
);
