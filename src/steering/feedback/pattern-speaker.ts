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
