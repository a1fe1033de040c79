import type { FeedbackProvider } from '../prompt/feedback-provider.ts';
import { PATTERN_SPEAKER, patternSpeaker } from './pattern-speaker.ts';
import type { PatternSpeakerOptions } from './pattern-speaker.ts';
import { defineProvider, type FeedbackDefinition } from './define-provider.ts';

/**
 * Speaks when the trajectory shows an `error_cascade`. Silent without a trajectory. Default trigger: `onPattern`, once
 * a level.
 */
export function errorCascadeFeedback(options: PatternSpeakerOptions = {}): FeedbackProvider {
  return patternSpeaker(
    {
      name: 'ErrorCascade',
      kind: 'error_cascade',
      summary: 'Your recent steps keep failing.',
      observation: ({ occurrences }) => `${occurrences} steps in a row ended in an error.`,
      suggestions: [
        'Stop and look for one cause behind these errors.',
        'Check the assumption that the failing steps share before you try another one.',
      ],
    },
    options,
  );
}

export const errorCascade: FeedbackDefinition<PatternSpeakerOptions> = defineProvider<PatternSpeakerOptions>(
  PATTERN_SPEAKER,
  errorCascadeFeedback,
);
