import { severityOfLevel } from '../advice/advice.ts';
import type { PatternLevel, TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackProvider } from '../prompt/feedback-provider.ts';
import { patternSentences } from './pattern-sentences.ts';
import { choice } from '../../base/shape.ts';
import { defineProvider, type FeedbackDefinition } from './define-provider.ts';

/** Options of `patternFeedback`. */
export interface PatternFeedbackOptions {
  /** The lowest level at which it speaks; default `warn`. */
  readonly level?: Exclude<PatternLevel, 'hint'>;
}

/** Calls named as evidence; the newest say most. */
const MAX_NAMED_CALLS = 8;

/**
 * Speaks of the loop the agent is stuck in: which call, how often, and one way out. Silent without a trajectory. Of
 * inefficiency it speaks only under a trigger of one's own that asks for it.
 * Default trigger: `onPattern` for stuck patterns, once a level.
 */
export function patternFeedback(options: PatternFeedbackOptions = {}): FeedbackProvider {
  const { level = 'warn' } = options;
  return {
    name: 'Pattern',
    defaultTrigger: { onPattern: { stuck: true, level } },
    shouldRun: (context) => newsOf(context, level) !== undefined,
    provide: (context) => {
      const pattern = newsOf(context, level);
      if (pattern === undefined) return { summary: 'The pattern is over.' };
      const { identity, occurrences } = pattern;
      return {
        ...patternSentences(pattern),
        severity: severityOfLevel(pattern.level),
        observations: [{ category: pattern.kind, description: describe(pattern), evidence: evidenceOf(pattern) }],
        pattern: { identity, level: pattern.level, occurrences },
      };
    },
  };
}

/** The pattern that fired the trigger; under another trigger the loudest stuck one, of these the one flagged last. */
function newsOf(context: FeedbackContext, level: PatternLevel): TrajectoryPattern | undefined {
  const { trajectory, triggerPattern } = context;
  if (triggerPattern !== undefined) return triggerPattern;
  const loud = (pattern: TrajectoryPattern): boolean =>
    pattern.stuck && pattern.flaggedAt !== null && (level === 'warn' || pattern.level === 'strong');
  return trajectory
    ?.openPatterns()
    .filter(loud)
    .toSorted((a, b) => Number(b.level === 'strong') - Number(a.level === 'strong') || flagged(b) - flagged(a))[0];
}

function flagged(pattern: TrajectoryPattern): number {
  return pattern.flaggedAt ?? -1;
}

function describe({ firstSeen, evidence, occurrences }: TrajectoryPattern): string {
  const span = (evidence.at(-1) ?? firstSeen) - firstSeen + 1;
  const times = occurrences === 1 ? 'once' : `${occurrences} times`;
  return `seen ${times} over the last ${span === 1 ? 'call' : `${span} calls`}.`;
}

function evidenceOf({ evidence }: TrajectoryPattern): string {
  return `tool calls ${evidence.slice(-MAX_NAMED_CALLS).join(', ')} (0-based)`;
}

export const pattern: FeedbackDefinition<PatternFeedbackOptions> = defineProvider<PatternFeedbackOptions>(
  { level: choice<'warn' | 'strong'>({ warn: true, strong: true }, 'warn') },
  patternFeedback,
);
