import { patternSpeaker, type PatternSpeaker } from './pattern-speaker.ts';

/**
 * Speaks when the trajectory shows a `drift`: the work has left the task's subject. Silent without a trajectory.
 * Default trigger: `onPattern`, once a level.
 */
export const driftFeedback: PatternSpeaker = patternSpeaker({
  name: 'Drift',
  kind: 'drift',
  summary: 'Your recent tool calls have little to do with the task as it was stated.',
  observation: ({ occurrences }) => `${occurrences} tool calls in a row touch none of the task's subjects.`,
  suggestions: ['Read the task again and say how the current work serves it.', 'If it does not, return to the task.'],
});
