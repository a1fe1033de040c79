import type { Json } from '../../base/json.ts';
import type { PatternDetector } from '../pattern-detector.ts';
import { similarity } from '../../calls/similarity.ts';
import type { Step } from '../step.ts';
import { gradeCount } from './level.ts';
import { share, whole } from '../../base/shape.ts';
import { defineDetector, type DetectorDefinition } from './define-detector.ts';

/** Options of `similarCallsDetector`. */
export interface SimilarCallsOptions {
  /** Shared words over all words of two calls' arguments, 0 to 1; default 0.85. */
  readonly similarityThreshold?: number;
  /** Calls compared; default 8, at most 32. */
  readonly windowSize?: number;
  /** Near-equal calls with one answer at which it warns; default 4. */
  readonly maxRepetitions?: number;
}

interface Entry {
  readonly index: number;
  readonly turn: number;
  readonly tool: string;
  readonly argsKey: string;
  readonly resultKey: string;
  readonly epoch: number;
  readonly tokens: readonly number[];
  readonly amountKey: string;
}

const MIN_RESULT_CHARS = 10;
const MIN_DIFFERENT = 3;
/** Asking for more of the same is a sound way to see whether an answer was cut off, so it takes one call more. */
const PATIENCE_WITH_AMOUNTS = 1;

/**
 * Nearly the same call, the same answer: one word swapped, one flag permuted, an order paraphrased. Compares the
 * words of the arguments within a short window; only calls of one tool, one epoch and one result are compared.
 */
export function similarCallsDetector(options: SimilarCallsOptions = {}): PatternDetector {
  const { similarityThreshold = 0.85, maxRepetitions = 4 } = options;
  const windowSize = Math.min(32, options.windowSize ?? 8);
  return {
    name: 'similar_calls',
    start(snapshot?: Json) {
      // A snapshot given to a detector is its own: the analysis keeps them by name.
      const window = [...((snapshot as unknown as readonly Entry[] | undefined) ?? [])];
      return {
        observe(step, context) {
          if (step.transparent || step.kind === 'poll' || step.resultMissing || !informs(step)) return undefined;
          const entry: Entry = {
            index: step.index,
            turn: step.turn,
            tool: step.tool,
            argsKey: step.argsKey,
            resultKey: step.resultKey,
            epoch: context.epoch,
            tokens: step.tokens,
            amountKey: step.amountKey,
          };
          const alike = window.filter((other) => matches(entry, other, similarityThreshold));
          window.push(entry);
          if (window.length > windowSize) window.shift();
          const count = alike.length + 1;
          const onlyMore = alike.every((other) => asksOtherAmount(entry, other));
          const grade = gradeCount(count, maxRepetitions + (onlyMore ? PATIENCE_WITH_AMOUNTS : 0));
          if (grade === undefined) return undefined;
          // Equal calls are the business of `identical_call`, two that alternate of `cycle`.
          if (new Set([entry, ...alike].map((one) => one.argsKey)).size < MIN_DIFFERENT) return undefined;
          return [
            {
              kind: 'similar_calls',
              key: `${step.tool}:${step.resultKey}`,
              stuck: true,
              ...grade,
              occurrences: count,
              tool: step.tool,
              evidence: [...alike.map((other) => other.index), step.index],
            },
          ];
        },
        snapshot: () => [...window] as unknown as Json,
      };
    },
  };
}

function matches(entry: Entry, other: Entry, threshold: number): boolean {
  if (entry.tool !== other.tool || entry.epoch !== other.epoch || entry.turn === other.turn) return false;
  return entry.resultKey === other.resultKey && similarity(entry.tokens, other.tokens) >= threshold;
}

/** Nothing but a number behind a word such as `limit` is another one. */
function asksOtherAmount(entry: Entry, other: Entry): boolean {
  return entry.amountKey !== other.amountKey && similarity(entry.tokens, other.tokens) === 1;
}

/** A question with an answer. A new version of a program being run is work, however alike the versions are. */
function informs(step: Step): boolean {
  if (step.kind === 'execute' && step.program === step.tool) return false;
  return (
    step.failure === undefined && !step.acknowledged && step.resultChars >= MIN_RESULT_CHARS && step.kind !== 'write'
  );
}

export const similarCalls: DetectorDefinition<SimilarCallsOptions> = defineDetector<SimilarCallsOptions>(
  {
    similarityThreshold: share(0.85),
    windowSize: whole(2, 32, 8),
    maxRepetitions: whole(2, 32, 4),
  },
  similarCallsDetector,
);
