import type { ClassificationResult } from '../../records/guidance.ts';
import type { GuidanceContext } from '../prompt/guidance-provider.ts';
import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { TrajectoryView } from '../prompt/trajectory-view.ts';

/**
 * Decides whether guidance is relevant at a decision point. A classifier is a stateless function of the context. It takes
 * microseconds and does no I/O.
 *
 * The confidence states how strongly the situation calls for guidance, even if the guidance is not relevant: 0 is a clear
 * no, 1 a clear yes. Built-in classifiers return 0.5 and above if relevant, else less.
 */
export interface Classifier {
  readonly name: string;
  /** As `GuidanceProvider.afterRefusals`. */
  readonly afterRefusals?: boolean | undefined;
  classify(context: GuidanceContext): ClassificationResult;
}

/**
 * Returns the result of a classifier that counts. The result is relevant if the count reaches the threshold. The confidence
 * grows with the count: up to 0.5 below the threshold, 0.75 at the threshold, 0.875 at twice the threshold, at most 0.99.
 *
 * @param threshold  a whole number from 1
 */
export function classifyCount(count: number, threshold: number, reason: string): ClassificationResult {
  const isRelevant = count >= threshold;
  const exactConfidence = isRelevant ? Math.min(0.99, 1 - (0.25 * threshold) / count) : (0.5 * count) / threshold;
  const confidence = Math.round(exactConfidence * 1_000) / 1_000;
  return isRelevant ? { relevant: isRelevant, confidence, reason } : { relevant: isRelevant, confidence };
}

/**
 * Returns the result for the most confident open pattern of these kinds. The pattern must have level `warn` or above and
 * must have been seen within the last `maxAge` calls. Returns undefined if there is no such pattern.
 *
 * Cost: O(open patterns), which are few.
 */
export function classifyPattern(
  trajectory: TrajectoryView,
  kinds: ReadonlySet<string>,
  maxAge: number,
): ClassificationResult | undefined {
  let bestPattern: TrajectoryPattern | undefined;
  for (const pattern of trajectory.openPatterns()) {
    if (pattern.level === 'hint' || !kinds.has(pattern.kind)) continue;
    const lastSeen = pattern.evidence.at(-1) ?? pattern.firstSeen;
    if (trajectory.calls - lastSeen > maxAge) continue;
    if (bestPattern === undefined || pattern.confidence > bestPattern.confidence) bestPattern = pattern;
  }
  if (bestPattern === undefined) return undefined;
  const { confidence, identity, kind, level, occurrences } = bestPattern;
  return { relevant: true, confidence, reason: `pattern ${kind}`, pattern: { identity, level, occurrences } };
}
