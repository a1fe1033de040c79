import { patternSpeaker, type PatternSpeaker } from './pattern-speaker.ts';

/**
 * Speaks when the trajectory shows an `error_cascade`. Silent without a trajectory. Default trigger: `onPattern`, once
 * a level.
 */
export const errorCascadeFeedback: PatternSpeaker = patternSpeaker({
  name: 'ErrorCascade',
  kind: 'error_cascade',
  summary: 'Your recent steps keep failing.',
  observation: ({ occurrences }) => `${occurrences} steps in a row ended in an error.`,
  suggestions: [
    'Stop and look for one cause behind these errors.',
    'Check the assumption that the failing steps share before you try another one.',
  ],
});
