import { levelRank, severityOfLevel } from '../advice/advice.ts';
import type { PatternLevel, TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { FeedbackProvider, FeedbackContext } from '../prompt/feedback-provider.ts';
import { choice } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';

/** Options of `driftFeedback`, `errorCascadeFeedback` and `stallFeedback`. */
export interface PatternSpeakerOptions {
  /** Minimum level of the pattern; default `warn`. */
  readonly level?: PatternLevel;
}

interface PatternTexts {
  readonly name: string;
  /** The kind of the pattern, which is also the category of the observation. */
  readonly kind: string;
  readonly summary: string;
  readonly observation: (pattern: TrajectoryPattern) => string;
  readonly suggestions: readonly string[];
}

/** Defines a provider that gives feedback while a pattern of one kind is open. */
function definePatternFeedback(texts: PatternTexts): ProviderDefinition<PatternSpeakerOptions, FeedbackProvider> {
  const { kind, name, suggestions, summary } = texts;
  const levelChoice = choice<PatternLevel>({ hint: true, warn: true, strong: true }, 'warn');
  return defineProvider<PatternSpeakerOptions, FeedbackProvider>(
    { level: levelChoice },
    ({ level }): FeedbackProvider => {
      const selection = { kind, level };
      return {
        name,
        defaultTrigger: { onPattern: selection },
        shouldRun: (context) => findPattern(context, selection) !== undefined,
        provide(context) {
          const pattern = findPattern(context, selection);
          if (pattern === undefined) return { summary: 'The pattern has ended.' };
          const { identity, occurrences } = pattern;
          return {
            summary,
            severity: severityOfLevel(pattern.level),
            observations: [
              { category: kind, description: texts.observation(pattern), evidence: patternEvidence(pattern) },
            ],
            suggestions,
            pattern: { identity, level: pattern.level, occurrences },
          };
        },
      };
    },
  );
}

/** Maximum number of calls that are named as evidence, newest first. */
const MAX_NAMED_CALLS = 8;

function patternEvidence({ evidence, firstSeen, occurrences }: TrajectoryPattern): string {
  const namedCalls = evidence.slice(-MAX_NAMED_CALLS).join(', ');
  return `tool calls ${namedCalls === '' ? firstSeen : namedCalls} (0-based); ${occurrences} in all`;
}

/** Returns the pattern that fired the trigger, else the strongest open pattern. */
function findPattern(
  { triggerPattern, trajectory }: FeedbackContext,
  selection: { readonly kind: string; readonly level: PatternLevel },
): TrajectoryPattern | undefined {
  const matches = ({ kind, level }: TrajectoryPattern): boolean =>
    kind === selection.kind && levelRank(level) >= levelRank(selection.level);
  if (triggerPattern !== undefined && matches(triggerPattern)) return triggerPattern;
  return trajectory
    ?.openPatterns()
    .filter(matches)
    .toSorted((a, b) => levelRank(b.level) - levelRank(a.level))[0];
}

/**
 * Gives feedback about a `drift`: the agent has moved away from the subject of its task. It gives no feedback without a
 * trajectory. Default trigger: `onPattern`, once per level.
 */
export const driftFeedback: ProviderDefinition<PatternSpeakerOptions, FeedbackProvider> = definePatternFeedback({
  name: 'Drift',
  kind: 'drift',
  summary: 'Your recent tool calls have little to do with the task as it was stated.',
  observation: ({ occurrences }) => `${occurrences} tool calls in a row touch none of the task's subjects.`,
  suggestions: ['Read the task again and say how the current work serves it.', 'If it does not, return to the task.'],
});

/**
 * Gives feedback about an `error_cascade`. It gives no feedback without a trajectory. Default trigger: `onPattern`, once
 * per level.
 */
export const errorCascadeFeedback: ProviderDefinition<PatternSpeakerOptions, FeedbackProvider> = definePatternFeedback({
  name: 'ErrorCascade',
  kind: 'error_cascade',
  summary: 'Your recent steps keep failing.',
  observation: ({ occurrences }) => `${occurrences} steps in a row ended in an error.`,
  suggestions: [
    'Stop and look for one cause behind these errors.',
    'Check the assumption that the failing steps share before you try another one.',
  ],
});

/** Gives feedback about a `stall`. It gives no feedback without a trajectory. Default trigger: `onPattern`, once per level. */
export const stallFeedback: ProviderDefinition<PatternSpeakerOptions, FeedbackProvider> = definePatternFeedback({
  name: 'Stall',
  kind: 'stall',
  summary: 'Your recent tool calls have brought nothing new.',
  observation: ({ occurrences }) => `${occurrences} tool calls since the last new result or change.`,
  suggestions: ['Write down what is still missing for the goal.', 'Take a step you have not tried yet.'],
});
