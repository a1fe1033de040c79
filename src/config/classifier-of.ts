import { allOf, anyOf, not, threshold } from '../guidance/combine-classifiers.ts';
import type { Classifier } from '../guidance/classifier.ts';
import { doomLoop } from '../guidance/doom-loop.ts';
import { errorStreak } from '../guidance/error-streak.ts';
import { highToolCount } from '../guidance/high-tool-count.ts';
import { largeOutput } from '../guidance/large-output.ts';
import { progressStall } from '../guidance/progress-stall.ts';
import { recentFailures } from '../guidance/recent-failures.ts';
import { sensitiveContentPending } from '../guidance/sensitive-content-pending.ts';
import { sequentialWhenParallel } from '../guidance/sequential-when-parallel.ts';
import { singleToolRepeated } from '../guidance/single-tool-repeated.ts';
import type { Condition } from './coxswain-config.ts';

/** The classifier that a condition of the bank describes. @param condition as decoded */
export function classifierOf(condition: Condition): Classifier {
  if ('doomLoop' in condition) return doomLoop(optionsOf(condition.doomLoop));
  if ('errorStreak' in condition) return errorStreak(optionsOf(condition.errorStreak));
  if ('recentFailures' in condition) return recentFailures(optionsOf(condition.recentFailures));
  if ('progressStall' in condition) return progressStall(optionsOf(condition.progressStall));
  if ('largeOutput' in condition) return largeOutput(optionsOf(condition.largeOutput));
  if ('highToolCount' in condition) return highToolCount(optionsOf(condition.highToolCount));
  if ('singleToolRepeated' in condition) return singleToolRepeated(optionsOf(condition.singleToolRepeated));
  if ('sequentialWhenParallel' in condition) return sequentialWhenParallel(optionsOf(condition.sequentialWhenParallel));
  if ('sensitiveContentPending' in condition) return sensitiveContentPending();
  if ('allOf' in condition) return allOf(...condition.allOf.map(classifierOf));
  if ('anyOf' in condition) return anyOf(...condition.anyOf.map(classifierOf));
  if ('not' in condition) return not(classifierOf(condition.not));
  return threshold(classifierOf(condition.threshold.of), condition.threshold.minConfidence);
}

function optionsOf<Options extends object>(given: true | Options): Options | undefined {
  return given === true ? undefined : given;
}
