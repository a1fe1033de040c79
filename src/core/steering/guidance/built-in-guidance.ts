import { invalidDefinition } from '../../base/error.ts';
import { text, type TextShape, share, whole } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import type { GuidanceProvider } from '../prompt/guidance-provider.ts';
import { defineGuidance, type GuidanceDefinition } from './define-guidance.ts';
import {
  errorStreak,
  recentFailures,
  defineThreshold,
  type ThresholdClassifier,
  type Classifier,
  classifyCount,
  classifyPattern,
} from './classifier.ts';
import type { RecentCall } from '../../detect/patterns/pattern-detector.ts';
import { similarity } from '../../detect/calls/tokens.ts';

/**
 * Relevant if at least the newest `threshold` (default 3) turns each had one call of the same tool with different
 * arguments. Such calls could have run in parallel. Only successful calls that seem to change nothing are counted, at most
 * `2 * threshold`. Never relevant if the host reports no turns.
 *
 * @throws CoxswainError "invalid-definition" if `threshold` is not a whole number from 2 to 16
 */
export const sequentialWhenParallel: ThresholdClassifier = defineThreshold(
  'sequential_when_parallel',
  whole(2, 16, 3),
  ({ trajectory }, threshold) => {
    // Without turns it is unknown which calls the model issued together.
    const count = trajectory.turns === 0 ? 0 : singleCalls(trajectory.recentCalls(2 * threshold));
    return [count, `${count} turns of one independent call each`];
  },
);

function singleCalls(calls: readonly RecentCall[]): number {
  const tool = calls.at(-1)?.tool;
  const argsKeys: string[] = [];
  for (let position = calls.length - 1; position >= 0; position -= 1) {
    const call = calls[position];
    const comparison = call?.comparison;
    if (call === undefined || comparison === undefined || call.tool !== tool || !isIndependent(call)) break;
    if (argsKeys.includes(comparison.argsKey) || sharesTurn(call, calls, position)) break;
    argsKeys.push(comparison.argsKey);
  }
  return argsKeys.length;
}

function isIndependent(call: RecentCall): boolean {
  return !call.failed && call.outcome === undefined && (call.kind === 'read' || call.kind === 'unknown');
}

function sharesTurn(call: RecentCall, calls: readonly RecentCall[], position: number): boolean {
  return calls[position - 1]?.turn === call.turn || calls[position + 1]?.turn === call.turn;
}

export interface ParallelToolReminderOptions {
  /** Minimum number of consecutive turns with one independent call each, 2 to 16; default 3. */
  readonly sequentialThreshold?: number;
}

/**
 * Reminds the agent that it may run calls in parallel:
 * `Multiple independent operations detected. Consider executing tools in parallel for efficiency.`
 *
 * Category `efficiency`, priority 200, at `pre_tool_selection` and `post_tool_result`.
 *
 * @throws CoxswainError "invalid-definition" if the option is out of range
 */
export const parallelToolReminder: ProviderDefinition<ParallelToolReminderOptions, GuidanceProvider> = defineProvider(
  { sequentialThreshold: sequentialWhenParallel.options.threshold },
  ({ sequentialThreshold }): GuidanceProvider =>
    defineGuidance({
      name: 'parallel_tool_reminder',
      category: 'efficiency',
      decisionPoints: ['pre_tool_selection', 'post_tool_result'],
      classifier: sequentialWhenParallel({ threshold: sequentialThreshold }),
      key: 'efficiency.parallel-tools',
      priority: 200,
      content: 'Multiple independent operations detected. Consider executing tools in parallel for efficiency.',
    }),
);

/** Options of `doomLoop` and `doomLoopGuidance`. */
export interface DoomLoopOptions {
  /** Of the arguments, inclusive: shared words divided by all words, 0 to 1; default 0.85. */
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

/** Includes the newest call. 0 if that is not counted. */
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

export interface DiagnosticSignalOptions {
  /** Minimum number of consecutive failed calls; default 3. */
  readonly errorThreshold?: number;
  /** A tool of the agent that shows the errors; default `view_logs`. */
  readonly logToolName?: string;
}

export interface ConsultationPromptOptions {
  /** Minimum failed calls among the last `2 * failureThreshold`, 1 to 128; default 5. */
  readonly failureThreshold?: number;
  /** A tool of the agent that consults another agent; default `request_review`. */
  readonly consultationTool?: string;
}

/**
 * Advises the agent to read its logs after consecutive errors: `Found 3 new console errors. Use the view_logs tool to
 * examine before continuing.`
 *
 * Category `diagnostic`, priority 20, at `pre_tool_selection`, `pre_tool_execution` and `post_tool_result`.
 */
export const diagnosticSignal: ProviderDefinition<DiagnosticSignalOptions, GuidanceProvider> = defineProvider(
  { errorThreshold: errorStreak.options.threshold, logToolName: toolName('view_logs') },
  ({ errorThreshold, logToolName }): GuidanceProvider =>
    afterFailures({
      name: 'diagnostic_signal',
      category: 'diagnostic',
      classifier: errorStreak({ threshold: errorThreshold }),
      key: 'diagnostic.errors',
      priority: 20,
      content: ({ trajectory: { consecutiveErrors: count } }) =>
        `Found ${count} new console error${count === 1 ? '' : 's'}. Use the ${logToolName} tool to examine before continuing.`,
    }),
);

/**
 * Suggests consulting another agent after many failures, which need not be consecutive: `Multiple attempts unsuccessful.
 * Consider using request_review to get fresh perspective from specialized agent.`
 *
 * Category `consultation`, priority 30, at `pre_tool_selection`, `pre_tool_execution` and `post_tool_result`.
 */
export const consultationPrompt: ProviderDefinition<ConsultationPromptOptions, GuidanceProvider> = defineProvider(
  { failureThreshold: recentFailures.options.threshold, consultationTool: toolName('request_review') },
  ({ failureThreshold, consultationTool }): GuidanceProvider =>
    afterFailures({
      name: 'consultation_prompt',
      category: 'consultation',
      classifier: recentFailures({ threshold: failureThreshold }),
      key: 'consultation.fresh-perspective',
      priority: 30,
      content: `Multiple attempts unsuccessful. Consider using ${consultationTool} to get fresh perspective from specialized agent.`,
    }),
);

function afterFailures(definition: GuidanceDefinition): GuidanceProvider {
  return defineGuidance({
    ...definition,
    decisionPoints: ['pre_tool_selection', 'pre_tool_execution', 'post_tool_result'],
  });
}

function toolName(defaultText: string): TextShape {
  return text('the name of a tool: 1 to 128 characters without blanks, backticks or angle brackets', {
    maxChars: 128,
    pattern: () => /^[^\p{C}\s`<>]+$/u,
    default: defaultText,
  });
}
