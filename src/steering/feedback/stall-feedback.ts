import { patternSpeaker, type PatternSpeaker } from './pattern-speaker.ts';

/**
 * Speaks when the trajectory shows a `stall`. Silent without a trajectory. Default trigger: `onPattern`, once a level.
 */
export const stallFeedback: PatternSpeaker = patternSpeaker({
  name: 'Stall',
  kind: 'stall',
  summary: 'Your recent tool calls have brought nothing new.',
  observation: ({ occurrences }) => `${occurrences} tool calls since the last new result or change.`,
  suggestions: ['Write down what is still missing for the goal.', 'Take a step you have not tried yet.'],
});
