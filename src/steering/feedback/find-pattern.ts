import type { PatternLevel, TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import { levelRank } from './level-rank.ts';

/** Which patterns a provider speaks of. */
interface WantedPattern {
  readonly level: PatternLevel;
  readonly kind?: string;
}

/** The pattern to speak of: the one that fired the trigger, else the strongest the agent is in. */
export function findPattern(context: FeedbackContext, wanted: WantedPattern): TrajectoryPattern | undefined {
  const isWanted = (pattern: TrajectoryPattern): boolean =>
    levelRank(pattern.level) >= levelRank(wanted.level) && (wanted.kind === undefined || pattern.kind === wanted.kind);
  const { triggerPattern, trajectory } = context;
  if (triggerPattern !== undefined && isWanted(triggerPattern)) return triggerPattern;
  return trajectory
    ?.openPatterns()
    .filter(isWanted)
    .toSorted((a, b) => levelRank(b.level) - levelRank(a.level))[0];
}
