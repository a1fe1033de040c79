import type { ClassificationResult } from '../../records/guidance.ts';
import type { GuidanceContext } from '../prompt/guidance-provider.ts';
import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { TrajectoryView } from '../prompt/trajectory-view.ts';

/**
 * Tells whether something is the case at a decision point. A stateless function of the context: microseconds, no
 * clock, no calls elsewhere.
 *
 * Its confidence says how strongly the situation calls for guidance, also when the answer is "not relevant": 0 is a
 * clear no, 1 a clear yes. The built-in ones give 0.5 and above when relevant and below 0.5 when not.
 */
export interface Classifier {
  readonly name: string;
  classify(context: GuidanceContext): ClassificationResult;
}

/**
 * Grades a count against its threshold: below it up to 0.5 in proportion, 0.75 at it, 0.875 at twice it, 0.99 at most.
 * Never falls as the count grows.
 *
 * @param threshold a whole number from 1
 */
export function countConfidence(count: number, threshold: number): number {
  const confidence = count < threshold ? (0.5 * count) / threshold : Math.min(0.99, 1 - (0.25 * threshold) / count);
  return Math.round(confidence * 1_000) / 1_000;
}

/** The answer of a classifier that counts: relevant from the threshold on. */
export function classifyCount(count: number, threshold: number, reason: string): ClassificationResult {
  const confidence = countConfidence(count, threshold);
  return count < threshold ? { relevant: false, confidence } : { relevant: true, confidence, reason };
}

/**
 * What the surest pattern of these kinds says that the agent is in at `warn` or above and that was seen within the last
 * `maxAge` calls; undefined when there is none.
 *
 * Cost: O(open patterns), which are few.
 */
export function classifyPattern(
  trajectory: TrajectoryView,
  kinds: ReadonlySet<string>,
  maxAge: number,
): ClassificationResult | undefined {
  let surest: TrajectoryPattern | undefined;
  for (const pattern of trajectory.openPatterns()) {
    if (pattern.level === 'hint' || !kinds.has(pattern.kind)) continue;
    const lastSeen = pattern.evidence.at(-1) ?? pattern.firstSeen;
    if (trajectory.calls - lastSeen > maxAge) continue;
    if (surest === undefined || pattern.confidence > surest.confidence) surest = pattern;
  }
  if (surest === undefined) return undefined;
  const { confidence, identity, kind, level, occurrences } = surest;
  return { relevant: true, confidence, reason: `pattern ${kind}`, pattern: { identity, level, occurrences } };
}
