import { allOf, anyOf, not, threshold } from '../steering/guidance/combine-classifiers.ts';
import type { Classifier } from '../steering/guidance/classifier.ts';
import { doomLoop } from '../steering/guidance/doom-loop.ts';
import { errorStreak } from '../steering/guidance/error-streak.ts';
import { highToolCount } from '../steering/guidance/high-tool-count.ts';
import { largeOutput } from '../steering/guidance/large-output.ts';
import { progressStall } from '../steering/guidance/progress-stall.ts';
import { recentFailures } from '../steering/guidance/recent-failures.ts';
import { sensitiveContentPending } from '../steering/guidance/sensitive-content-pending.ts';
import { sequentialWhenParallel } from '../steering/guidance/sequential-when-parallel.ts';
import { singleToolRepeated } from '../steering/guidance/single-tool-repeated.ts';
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
