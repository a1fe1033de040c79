import { whole } from '../../base/shape.ts';
import type { Step } from '../patterns/step.ts';
import { defineDetector, MAX_REMEMBERED, type DetectorFactory } from './define-detector.ts';
import { gradeCount, appendEvidence } from './level.ts';

/** Options of `stagnationDetector`. */
export interface StagnationOptions {
  /** Different questions with one answer at which it warns; default 6. */
  readonly warnAt?: number;
  /** The same for an answer under 10 characters, unless a search finds nothing; default 10. */
  readonly shortWarnAt?: number;
}

interface State {
  readonly tool: string;
  readonly resultKey: string;
  /** Keys of the questions, at most 32. */
  readonly questions: readonly string[];
  readonly turn: number;
  readonly evidence: readonly number[];
  /** Words that all questions share, as tokens. */
  readonly common: readonly number[];
  /** Each question named another thing in an otherwise equal sentence. */
  readonly lists: boolean;
  /** Equal for questions that differ only in numbers; null once one differed in more. */
  readonly frameKey: number | null;
  readonly userMessages: number;
}

const EMPTY: State = {
  tool: '',
  resultKey: '',
  questions: [],
  turn: -1,
  evidence: [],
  common: [],
  lists: true,
  frameKey: null,
  userMessages: 0,
};
const SHORT_CHARS = 10;
/** Longer than the lists in the labelled cases. */
const LIST_WARN_AT = 20;
/** Questions in a row about several things share at least this many words. */
const MIN_COMMON_WORDS = 2;
/** Maximum number of words that name the thing in such a question. */
const MAX_OWN_WORDS = 6;
/** Maximum length of an answer that states one fact. A page is longer. */
const STATEMENT_CHARS = 80;

/**
 * Different calls of one tool in a row return the same result. A result that only acknowledges (`ok`, `deleted`) never counts.
 *
 * Warns at:
 * - 6 equal results (`warnAt`) of different calls of one tool.
 * - 10 for a result under 10 characters (`shortWarnAt`), except for a read that finds nothing (no text, an empty list).
 * - 20 if the calls go through a list (each names another thing in otherwise equal arguments) and each result is "none", "zero" or
 *   "no", or if the calls differ only in numbers and the result has at most 80 characters.
 *
 * Resets on:
 * - Another result, or another tool.
 * - A failure, a change, a program that runs, or a message of the user.
 */
export const stagnationDetector: DetectorFactory<StagnationOptions> = defineDetector<StagnationOptions, State>(
  'stagnation',
  { warnAt: whole(2, MAX_REMEMBERED, 6), shortWarnAt: whole(2, MAX_REMEMBERED, 10) },
  ({ warnAt, shortWarnAt }, snapshot = EMPTY) => {
    let state = snapshot;
    const thresholdOf = (step: Step): number => {
      const findsNothing = step.empty && step.kind === 'read';
      const isStatement = state.frameKey !== null && step.resultChars <= STATEMENT_CHARS;
      if (isStatement || (state.lists && step.negative && !findsNothing)) return Math.max(LIST_WARN_AT, shortWarnAt);
      return step.resultChars < SHORT_CHARS && !findsNothing ? shortWarnAt : warnAt;
    };
    return {
      observe(step, { userMessages }) {
        const { tool, resultKey, argsKey, turn } = step;
        if (step.transparent || step.resultMissing) return undefined;
        if (!isInformative(step)) {
          state = EMPTY;
          return undefined;
        }
        const isSameAnswer =
          state.tool === tool && state.resultKey === resultKey && state.userMessages === userMessages;
        if (isSameAnswer && (state.turn === turn || state.questions.includes(argsKey))) return undefined;
        const previous = isSameAnswer ? state : { ...EMPTY, common: step.tokens, frameKey: step.frameKey };
        const common = previous.common.filter((token) => step.tokens.includes(token));
        const ownWords = step.tokens.length - common.length;
        state = {
          tool,
          resultKey,
          questions: [...previous.questions.slice(1 - MAX_REMEMBERED), argsKey],
          turn,
          evidence: appendEvidence(previous.evidence, step.index),
          common,
          lists:
            previous.lists &&
            (!isSameAnswer || (common.length >= MIN_COMMON_WORDS && ownWords > 0 && ownWords <= MAX_OWN_WORDS)),
          frameKey: previous.frameKey === step.frameKey ? step.frameKey : null,
          userMessages,
        };
        const occurrences = state.questions.length;
        const grade = gradeCount(occurrences, thresholdOf(step));
        if (grade === undefined) return undefined;
        const { evidence } = state;
        return [
          { kind: 'stagnation', key: `${tool}:${resultKey}`, stuck: true, ...grade, occurrences, tool, evidence },
        ];
      },
      snapshot: () => state,
    };
  },
);

/** Returns true for a question whose answer could have told something. */
function isInformative(step: Step): boolean {
  if (step.failure !== undefined) return false;
  if (step.kind !== 'read' && step.kind !== 'unknown' && step.kind !== 'ui') return false;
  return !step.acknowledged || (step.kind === 'read' && step.resultChars === 0);
}
