import { present } from '../../base/present.ts';
import type { ClassificationResult } from '../../records/guidance.ts';
import type { GuidanceContext } from '../prompt/guidance-provider.ts';
import { checkShare, invalidDefinition } from './check-options.ts';
import type { Classifier } from './classifier.ts';

// The algebra of confidence is that of fuzzy logic: "and" is as sure as its weakest part, "or" as its strongest,
// "not" turns it round. Parts are rarely independent (an error streak and a doom loop come together), so products
// would claim more than is known. When parts disagree, those that decide the answer give the confidence; so De
// Morgan's laws hold exactly, and a part that is not relevant never makes the whole look surer.

/**
 * Relevant when every part is. Confidence: the least among the parts that decide (all of them, or those that are not
 * relevant). Every part is asked.
 *
 * @throws CoxswainError "invalid-definition" without parts
 */
export function allOf(...parts: readonly Classifier[]): Classifier {
  return {
    name: nameOf('all_of', parts),
    classify(context) {
      const results = ask(parts, context);
      const relevant = results.every((result) => result.relevant);
      const deciding = relevant ? results : results.filter((result) => !result.relevant);
      return joined(relevant, Math.min(...deciding.map((result) => result.confidence)), deciding);
    },
  };
}

/**
 * Relevant when at least one part is. Confidence: the greatest among the parts that decide (those that are relevant,
 * or all of them). Every part is asked.
 *
 * @throws CoxswainError "invalid-definition" without parts
 */
export function anyOf(...parts: readonly Classifier[]): Classifier {
  return {
    name: nameOf('any_of', parts),
    classify(context) {
      const results = ask(parts, context);
      const relevant = results.some((result) => result.relevant);
      const deciding = relevant ? results.filter((result) => result.relevant) : results;
      return joined(relevant, Math.max(...deciding.map((result) => result.confidence)), deciding);
    },
  };
}

/** Relevant when the part is not, with one minus its confidence. */
export function not(part: Classifier): Classifier {
  return {
    name: nameOf('not', [part]),
    classify(context) {
      const { relevant, confidence } = part.classify(context);
      return { relevant: !relevant, confidence: 1 - confidence };
    },
  };
}

/**
 * Relevant when the part is, with at least this confidence (inclusive). The confidence itself stays as it is.
 *
 * @throws CoxswainError "invalid-definition" when `minConfidence` is not from 0 to 1
 */
export function threshold(part: Classifier, minConfidence: number): Classifier {
  checkShare('minConfidence', minConfidence);
  return {
    name: nameOf('threshold', [part]),
    classify(context) {
      const result = part.classify(context);
      return { ...result, relevant: result.relevant && result.confidence >= minConfidence };
    },
  };
}

function ask(parts: readonly Classifier[], context: GuidanceContext): readonly ClassificationResult[] {
  return parts.map((part) => part.classify(context));
}

function nameOf(operator: string, parts: readonly Classifier[]): string {
  if (parts.length === 0) throw invalidDefinition(`${operator} needs at least one classifier`, { operator });
  return `${operator}(${parts.map((part) => part.name).join(', ')})`;
}

/** Keeps the reasons of a positive answer, and the first pattern among them. */
function joined(
  relevant: boolean,
  confidence: number,
  deciding: readonly ClassificationResult[],
): ClassificationResult {
  if (!relevant) return { relevant, confidence };
  const reason = deciding.flatMap((result) => result.reason ?? []).join('; ');
  const pattern = deciding.find((result) => result.pattern !== undefined)?.pattern;
  return {
    relevant,
    confidence,
    ...(reason === '' ? {} : { reason }),
    ...present({ pattern }),
  };
}
