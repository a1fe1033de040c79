import type { RecentCall } from '../../detect/patterns/recent-call.ts';
import { similarity } from '../../detect/calls/similarity.ts';
import { type Classifier, classifyCount, classifyPattern } from './classifier.ts';
import { share, whole } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import { invalidDefinition } from '../prompt/check-options.ts';
import type { GuidanceProvider } from '../prompt/guidance-provider.ts';
import { defineGuidance } from './define-guidance.ts';

/** Options of `doomLoop` and `doomLoopGuidance`. */
export interface DoomLoopOptions {
  /**
   * Minimum similarity of the arguments, inclusive. The similarity is the number of shared words divided by the number of
   * all words, 0 to 1; default 0.85.
   */
  readonly similarityThreshold?: number;
  /** Number of newest calls that are compared, 2 to 32; default 5. */
  readonly windowSize?: number;
  /** Minimum number of similar unsuccessful calls, including the newest, 2 to `windowSize`; default 3. */
  readonly maxRepetitions?: number;
}

const KINDS: ReadonlySet<string> = new Set(['identical_call', 'ping_pong', 'cycle', 'repetition', 'repeated_error']);
/** Minimum length of a meaningful result. A shorter result (`ok`, `true`) of different arguments proves nothing. */
const MIN_RESULT_CHARS = 10;

/**
 * Relevant if the agent is in a loop. Either `maxRepetitions` of the last `windowSize` calls were nearly the same and
 * failed or had the same result, or the analysis found a loop at `warn` within that window. A new successful write ends the
 * series. Any other new success between calls that did not fail also ends it. Calls of one turn count once. Polls, thoughts
 * and pauses do not count.
 *
 * The confidence is that of the pattern, or 0.75 at `maxRepetitions`, growing with the count.
 *
 * @throws CoxswainError "invalid-definition" if an option is out of range
 *
 * Cost: `windowSize` merges of at most 64 words.
 */
export const doomLoop: ProviderDefinition<DoomLoopOptions, Classifier> = defineProvider(
  { similarityThreshold: share(0.85), windowSize: whole(2, 32, 5), maxRepetitions: whole(2, 32, 3) },
  ({ similarityThreshold, windowSize, maxRepetitions }): Classifier => {
    if (maxRepetitions > windowSize) {
      const message = `maxRepetitions must be at most windowSize (${windowSize}), got ${maxRepetitions}`;
      throw invalidDefinition(message, { option: 'maxRepetitions' });
    }
    return {
      name: 'doom_loop',
      classify({ trajectory }) {
        const pattern = classifyPattern(trajectory, KINDS, windowSize);
        if (pattern !== undefined) return pattern;
        const count = repetitions(trajectory.recentCalls(windowSize), similarityThreshold);
        return classifyCount(count, maxRepetitions, `${count} similar calls without success`);
      },
    };
  },
);

/**
 * Returns the number of unsuccessful calls that are similar to the newest call, including that call. Returns 0 if the
 * newest call is not counted.
 */
function repetitions(calls: readonly RecentCall[], threshold: number): number {
  const newest = calls.at(-1);
  if (newest === undefined || !isCounted(newest)) return 0;
  let count = 1;
  let turn = newest.turn;
  for (let position = calls.length - 2; position >= 0; position -= 1) {
    const call = calls[position];
    if (call === undefined || !isCounted(call)) continue;
    const isRepeat = unsuccessfulAgain(newest, call) && isAlike(newest, call, threshold);
    // A new result between two failures may be a search for the cause. A new result between two equal results is progress.
    if (call.novel && !call.failed && (call.kind === 'write' || !(isRepeat || newest.failed))) break;
    if (!isRepeat || (call.turn === turn && turn > 0)) continue;
    count += 1;
    turn = call.turn;
  }
  return count;
}

function isCounted(call: RecentCall): boolean {
  return call.kind !== 'poll' && call.kind !== 'note' && call.kind !== 'wait';
}

function unsuccessfulAgain(newest: RecentCall, call: RecentCall): boolean {
  if (newest.failed || call.failed) return newest.failed && call.failed;
  if (newest.comparison?.resultKey !== call.comparison?.resultKey) return false;
  if (newest.comparison?.argsKey === call.comparison?.argsKey) return true;
  return newest.kind !== 'write' && newest.resultChars >= MIN_RESULT_CHARS;
}

function isAlike(newest: RecentCall, call: RecentCall, threshold: number): boolean {
  if (newest.tool !== call.tool || newest.comparison === undefined || call.comparison === undefined) return false;
  return similarity(newest.comparison.tokens, call.comparison.tokens) >= threshold;
}

/**
 * Gives the guidance
 * `Detected repeated unsuccessful pattern. Consider a different approach or consult the planning tool to reassess
 * strategy.`
 *
 * Category `loop`, priority 10, at `pre_tool_selection`, `pre_tool_execution` and `post_tool_result`.
 *
 * @throws CoxswainError "invalid-definition" if an option is out of range
 */
export const doomLoopGuidance: ProviderDefinition<DoomLoopOptions, GuidanceProvider> = defineProvider(
  doomLoop.options,
  (options): GuidanceProvider =>
    defineGuidance({
      name: 'doom_loop',
      category: 'loop',
      decisionPoints: ['pre_tool_selection', 'pre_tool_execution', 'post_tool_result'],
      classifier: doomLoop(options),
      key: 'loop.doom-loop',
      priority: 10,
      content:
        'Detected repeated unsuccessful pattern. Consider a different approach or consult the planning tool to reassess strategy.',
    }),
);
