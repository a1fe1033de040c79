import { whole } from '../../base/shape.ts';
import { similarity } from '../calls/tokens.ts';
import type { Step } from '../patterns/step.ts';
import { defineDetector, MAX_REMEMBERED, type DetectorFactory } from './define-detector.ts';
import { appendEvidence, NO_CALLS, NO_KEYS, reportCount } from './level.ts';

const EMPTY = {
  tool: '',
  resultKey: '',
  /** Keys of the questions, at most 32. */
  questions: NO_KEYS,
  turn: -1,
  evidence: NO_CALLS,
  /** The questions go through a list: each differs from the last only in numbers or in a word of a long question. */
  lists: true,
  tokens: NO_CALLS,
  /** Calls in a row in which only integers grew; and by a fifth or more, as a search that is widened. */
  grown: 0,
  widened: 0,
  /** The call before the row was such a call with a longer result. */
  pastEnd: false,
  integers: NO_CALLS,
  growth: 0,
  lastFrameKey: 0,
  resultChars: 0,
  userMessages: 0,
};
const SHORT_CHARS = 10;
/** Maximum length of an answer that states one fact. A page is longer. */
const STATEMENT_CHARS = 80;
/** Shared words of questions that differ in a word. */
const MIN_LIKENESS = 0.8;
/** Calls in a row that only go further, past the end of something or in a wider search. */
const FURTHER_WARN_AT = 4;
const FURTHER_CHARS = 200;
/** Share by which a widened search grows at least. */
const WIDENING = 0.2;

/**
 * Different calls of one tool in a row return the same result. A result that only acknowledges (`ok`, `deleted`) never counts.
 *
 * Warns at:
 * - 6 equal results (`warnAt`) of different calls of one tool.
 * - 20 for a result under 10 characters (`shortWarnAt`), except for a read that finds nothing (no text, an empty list), and for calls
 *   that go through a list (each differs from the last only in numbers, or in a word of many if the result says "none") with at most 80 characters.
 * - 4 if only integers among the arguments grow and the result has at most 200 characters: after a longer result of such a call, as past
 *   the end of a list, or by another number of a fifth or more each time, as in a search that is widened.
 *
 * Resets on:
 * - Another result, or another tool.
 * - A failure, a change, a program that runs, or a message of the user.
 */
export const stagnationDetector: DetectorFactory<'warnAt' | 'shortWarnAt'> = defineDetector(
  'stagnation',
  { warnAt: whole(2, MAX_REMEMBERED, 6), shortWarnAt: whole(2, MAX_REMEMBERED, 20) },
  ({ warnAt, shortWarnAt }, snapshot: typeof EMPTY = EMPTY) => {
    let state = snapshot;
    const thresholdOf = (step: Step): number => {
      const further = 1 + Math.max(state.widened, state.pastEnd ? state.grown : 0);
      if (further >= FURTHER_WARN_AT && step.resultChars <= FURTHER_CHARS) return FURTHER_WARN_AT;
      const findsNothing = step.empty && step.kind === 'read';
      const isStatement = state.lists && step.resultChars <= STATEMENT_CHARS;
      return isStatement || (step.resultChars < SHORT_CHARS && !findsNothing) ? shortWarnAt : warnAt;
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
        const previous = isSameAnswer ? state : EMPTY;
        const isLikeLast = state.tool === tool && state.lastFrameKey === step.frameKey;
        const isListed = step.negative && !step.empty && similarity(state.tokens, step.tokens) >= MIN_LIKENESS;
        const [before, growth] = isLikeLast ? growthOf(state.integers, step) : [0, 0];
        // The calls of a list grow by the same number.
        const isWider = growth > 0 && growth >= WIDENING * before && growth !== state.growth;
        state = {
          tool,
          resultKey,
          questions: [...previous.questions.slice(1 - MAX_REMEMBERED), argsKey],
          turn,
          evidence: appendEvidence(previous.evidence, step.index),
          lists: !isSameAnswer || (state.lists && (isLikeLast || isListed)),
          tokens: step.tokens,
          grown: isSameAnswer && growth > 0 ? state.grown + 1 : 0,
          widened: isSameAnswer && isWider ? state.widened + 1 : 0,
          pastEnd: isSameAnswer ? state.pastEnd : growth > 0 && state.resultChars > step.resultChars,
          integers: step.integers,
          growth,
          lastFrameKey: step.frameKey,
          resultChars: step.resultChars,
          userMessages,
        };
        const { questions, evidence } = state;
        const pattern = { kind: 'stagnation', key: `${tool}:${resultKey}`, tool, evidence };
        return reportCount(pattern, questions.length, thresholdOf(step));
      },
      snapshot: () => state,
    };
  },
);

/** Returns the first integer among the arguments that changed, as it was, and by how much it grew; twice 0 unless all that changed grew. */
function growthOf(integers: readonly number[], step: Step): readonly [before: number, growth: number] {
  const changes = step.integers.flatMap((after, index) => {
    const before = integers[index] ?? after;
    return after === before ? [] : [[before, after - before] as const];
  });
  const [first] = changes;
  const isGrowth = integers.length === step.integers.length && changes.every(([, growth]) => growth > 0);
  return isGrowth && first !== undefined ? first : [0, 0];
}

/** Returns true for a question whose answer could have told something. */
function isInformative(step: Step): boolean {
  if (step.failure !== undefined) return false;
  if (step.kind !== 'read' && step.kind !== 'unknown' && step.kind !== 'ui') return false;
  return !step.acknowledged || (step.kind === 'read' && step.resultChars === 0);
}
