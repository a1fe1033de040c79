import { severityOfLevel } from '../advice/advice.ts';
import type { PatternLevel, TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { FeedbackProvider } from '../prompt/feedback-provider.ts';
import { findPattern } from './find-pattern.ts';
import { patternEvidence } from './pattern-evidence.ts';
import { choice, type ShapesOf } from '../../base/shape.ts';

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

/** Speaks while the agent is in a pattern of one kind; what counts as one is the detector's business. */
export function patternSpeaker(words: PatternWords, { level = 'warn' }: PatternSpeakerOptions): FeedbackProvider {
  const wanted = { kind: words.kind, level };
  return {
    name: words.name,
    defaultTrigger: { onPattern: { kind: words.kind, level } },
    shouldRun: (context) => findPattern(context, wanted) !== undefined,
    provide(context) {
      const pattern = findPattern(context, wanted);
      if (pattern === undefined) return { summary: 'The pattern is over.' };
      const { identity, occurrences } = pattern;
      return {
        summary: words.summary,
        severity: severityOfLevel(pattern.level),
        observations: [
          { category: words.kind, description: words.observation(pattern), evidence: patternEvidence(pattern) },
        ],
        suggestions: words.suggestions,
        pattern: { identity, level: pattern.level, occurrences },
      };
    },
  };
}

/** What a configuration may say of the options. */
export const PATTERN_SPEAKER: ShapesOf<PatternSpeakerOptions> = {
  level: choice<PatternLevel>({ hint: true, warn: true, strong: true }, 'warn'),
};
