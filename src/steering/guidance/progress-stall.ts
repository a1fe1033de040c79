import { classifyCount, type Classifier } from './classifier.ts';
import { whole } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import { classifyPattern } from './classify-pattern.ts';

const KINDS: ReadonlySet<string> = new Set(['stall', 'stagnation']);
/** A pattern seen longer ago than this many calls says nothing of now. */
const MAX_AGE = 5;

/**
 * Nothing new comes: the newest `maxCalls` (default 20) calls or more brought no new result, or the analysis itself
 * sees a stall or stagnation. Thoughts, pauses and polls do not count.
 *
 * @throws CoxswainError "invalid-definition" when `maxCalls` is not a whole number from 1 to 200
 */
export const progressStall: ProviderDefinition<{ readonly maxCalls?: number }, Classifier> = defineProvider<
  { readonly maxCalls?: number },
  Classifier
>({ maxCalls: whole(1, 200, 20) }, ({ maxCalls }): Classifier => {
  return {
    name: 'progress_stall',
    classify({ trajectory }) {
      const pattern = classifyPattern(trajectory, KINDS, MAX_AGE);
      if (pattern !== undefined) return pattern;
      let count = 0;
      // A quarter more, because some calls do not count.
      for (const call of trajectory.recentCalls(Math.ceil(1.25 * maxCalls)).toReversed()) {
        if (call.kind === 'note' || call.kind === 'wait' || call.kind === 'poll') continue;
        if (call.novel) break;
        count += 1;
      }
      return classifyCount(count, maxCalls, `nothing new in ${count} calls`);
    },
  };
});
