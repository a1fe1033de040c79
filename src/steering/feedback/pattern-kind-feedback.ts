import { severityOfLevel } from '../advice/advice.ts';
import type { PatternLevel, TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { FeedbackProvider } from '../prompt/feedback-provider.ts';
import { choice } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import { levelRank } from './level-rank.ts';

/** Options of the providers that speak when the trajectory shows a pattern. */
export interface PatternSpeakerOptions {
  /** The lowest level of the pattern at which it speaks; default `warn`. */
  readonly level?: PatternLevel;
}

/** The fixed sentences of such a provider. */
interface PatternWords {
  readonly name: string;
  /** Kind of the pattern, as its detector names it; also the category of the observation. */
  readonly kind: string;
  readonly summary: string;
  readonly observation: (pattern: TrajectoryPattern) => string;
  readonly suggestions: readonly string[];
}

/** A provider that speaks of patterns of one kind. */
export type PatternSpeaker = ProviderDefinition<PatternSpeakerOptions, FeedbackProvider>;

/** Speaks while the agent is in a pattern of one kind; what counts as one is the detector's business. */
export function patternSpeaker(words: PatternWords): PatternSpeaker {
  const { kind, name, suggestions, summary } = words;
  const levels = choice<PatternLevel>({ hint: true, warn: true, strong: true }, 'warn');
  return defineProvider<PatternSpeakerOptions, FeedbackProvider>({ level: levels }, ({ level }): FeedbackProvider => {
    const wanted = { kind, level };
    return {
      name,
      defaultTrigger: { onPattern: wanted },
      shouldRun: (context) => findPattern(context, wanted) !== undefined,
      provide(context) {
        const pattern = findPattern(context, wanted);
        if (pattern === undefined) return { summary: 'The pattern is over.' };
        const { identity, occurrences } = pattern;
        return {
          summary,
          severity: severityOfLevel(pattern.level),
          observations: [
            { category: kind, description: words.observation(pattern), evidence: patternEvidence(pattern) },
          ],
          suggestions,
          pattern: { identity, level: pattern.level, occurrences },
        };
      },
    };
  });
}

/** Calls named as evidence; the newest say most. */
const MAX_NAMED_CALLS = 8;

/** Which calls show a pattern, for records. */
function patternEvidence({ evidence, firstSeen, occurrences }: TrajectoryPattern): string {
  const named = evidence.slice(-MAX_NAMED_CALLS).join(', ');
  return `tool calls ${named === '' ? firstSeen : named} (0-based); ${occurrences} in all`;
}

/** Which patterns a provider speaks of. */
interface WantedPattern {
  readonly level: PatternLevel;
  readonly kind?: string;
}

/** The pattern to speak of: the one that fired the trigger, else the strongest the agent is in. */
function findPattern(context: FeedbackContext, wanted: WantedPattern): TrajectoryPattern | undefined {
  const isWanted = (pattern: TrajectoryPattern): boolean =>
    levelRank(pattern.level) >= levelRank(wanted.level) && (wanted.kind === undefined || pattern.kind === wanted.kind);
  const { triggerPattern, trajectory } = context;
  if (triggerPattern !== undefined && isWanted(triggerPattern)) return triggerPattern;
  return trajectory
    ?.openPatterns()
    .filter(isWanted)
    .toSorted((a, b) => levelRank(b.level) - levelRank(a.level))[0];
}

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
