import type { ClassificationResult } from '../../records/spoken-advice.ts';
import type { GuidanceContext } from '../prompt/guidance-provider.ts';
import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { TrajectoryView } from '../prompt/prompt.ts';
import { present } from '../../base/json.ts';
import { checkShare, invalidDefinition } from '../prompt/define-provider.ts';

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
 * @param limit  a whole number from 1
 */
export function classifyCount(count: number, limit: number, reason: string): ClassificationResult {
  const isRelevant = count >= limit;
  const exactConfidence = isRelevant ? Math.min(0.99, 1 - (0.25 * limit) / count) : (0.5 * count) / limit;
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

// Confidence follows fuzzy logic: minimum, maximum, complement. The parts are rarely independent (an error streak and a
// doom loop coincide), so products would be too high. If the parts disagree, only those that decide the result determine
// the confidence. De Morgan's laws therefore hold exactly, and a part that is not relevant never raises the confidence.

/**
 * Relevant if every part is relevant. The confidence is the minimum of the deciding parts (all parts, or those that are not
 * relevant).
 *
 * @throws CoxswainError "invalid-definition" without parts
 */
export function allOf(...parts: readonly Classifier[]): Classifier {
  return {
    ...describeParts('all_of', parts),
    classify(context) {
      const results = classifyAll(parts, context);
      const isRelevant = results.every((result) => result.relevant);
      const decidingResults = isRelevant ? results : results.filter((result) => !result.relevant);
      return joinResults(isRelevant, Math.min(...decidingResults.map((result) => result.confidence)), decidingResults);
    },
  };
}

/**
 * Relevant if any part is relevant. The confidence is the maximum of the deciding parts (those that are relevant, or all
 * parts).
 *
 * @throws CoxswainError "invalid-definition" without parts
 */
export function anyOf(...parts: readonly Classifier[]): Classifier {
  return {
    ...describeParts('any_of', parts),
    classify(context) {
      const results = classifyAll(parts, context);
      const isRelevant = results.some((result) => result.relevant);
      const decidingResults = isRelevant ? results.filter((result) => result.relevant) : results;
      return joinResults(isRelevant, Math.max(...decidingResults.map((result) => result.confidence)), decidingResults);
    },
  };
}

/** Relevant if the part is not relevant. The confidence is one minus that of the part. */
export function not(part: Classifier): Classifier {
  return {
    ...describeParts('not', [part]),
    classify(context) {
      const { relevant, confidence } = part.classify(context);
      return { relevant: !relevant, confidence: 1 - confidence };
    },
  };
}

/**
 * Relevant if the part is relevant with at least this confidence. The confidence is unchanged.
 *
 * @throws CoxswainError "invalid-definition" if `minConfidence` is not from 0 to 1
 */
export function threshold(part: Classifier, minConfidence: number): Classifier {
  checkShare('minConfidence', minConfidence);
  return {
    ...describeParts('threshold', [part]),
    classify(context) {
      const result = part.classify(context);
      return { ...result, relevant: result.relevant && result.confidence >= minConfidence };
    },
  };
}

function classifyAll(parts: readonly Classifier[], context: GuidanceContext): readonly ClassificationResult[] {
  return parts.map((part) => part.classify(context));
}

function describeParts(operator: string, parts: readonly Classifier[]): Pick<Classifier, 'name' | 'afterRefusals'> {
  if (parts.length === 0) throw invalidDefinition(`${operator} needs at least one classifier`, { operator });
  const name = `${operator}(${parts.map((part) => part.name).join(', ')})`;
  return { name, afterRefusals: parts.every((part) => part.afterRefusals === true) };
}

/** A relevant result contains all reasons and the first pattern. */
function joinResults(
  isRelevant: boolean,
  confidence: number,
  decidingResults: readonly ClassificationResult[],
): ClassificationResult {
  if (!isRelevant) return { relevant: isRelevant, confidence };
  const reason = decidingResults.flatMap((result) => result.reason ?? []).join('; ');
  const pattern = decidingResults.find((result) => result.pattern !== undefined)?.pattern;
  return {
    relevant: isRelevant,
    confidence,
    ...(reason === '' ? {} : { reason }),
    ...present({ pattern }),
  };
}
