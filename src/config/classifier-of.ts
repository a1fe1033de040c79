import { allOf, anyOf, not, threshold } from '../steering/guidance/combine-classifiers.ts';
import type { Classifier } from '../steering/guidance/classifier.ts';
import { sensitiveContentPending } from '../steering/guidance/sensitive-content-pending.ts';
import type { Condition } from './coxswain-config.ts';
import { CLASSIFIERS, type AnyClassifier } from './guidance-providers.ts';

/** The classifier that a condition of the bank describes. @param condition as decoded */
export function classifierOf(condition: Condition): Classifier {
  if ('sensitiveContentPending' in condition) return sensitiveContentPending();
  if ('allOf' in condition) return allOf(...condition.allOf.map(classifierOf));
  if ('anyOf' in condition) return anyOf(...condition.anyOf.map(classifierOf));
  if ('not' in condition) return not(classifierOf(condition.not));
  if ('threshold' in condition)
    return threshold(classifierOf(condition.threshold.of), condition.threshold.minConfidence);
  const [name, options] = Object.entries(condition)[0] ?? [];
  // What stands under a classifier's name is what it takes, and a condition has exactly one member.
  const make = CLASSIFIERS[name as keyof typeof CLASSIFIERS] as AnyClassifier;
  return make(typeof options === 'object' ? options : undefined);
}
