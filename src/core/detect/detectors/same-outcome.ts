import { similarity } from '../calls/tokens.ts';
import { defineDetector, countShape, type DetectorFactory } from './define-detector.ts';
import { appendEvidence, NO_CALLS, reportFlag } from './level.ts';

const CALL = { tool: '', words: NO_CALLS, firstLine: 0, tokens: NO_CALLS, turn: -1, ordinal: -1, epoch: -1 };
const EMPTY = { ...CALL, count: 0, evidence: NO_CALLS };
const MAX_BETWEEN = 4;
const MIN_LIKENESS = 0.6;
/** Reports of one errand, whose first lines may differ. */
const MIN_ERRAND_LIKENESS = 0.8;
const MIN_PROMPT_LIKENESS = 0.35;

/**
 * The agent hands a job to a subagent or a model behind a tool again and again, in other words, and gets nearly the same report.
 *
 * Warns at:
 * - 3 calls of one tool (`warnAt`) with a sentence among the arguments and results of 300 characters or more: the first lines are equal and
 *   three of five words, or the sentences are alike and four of five words.
 * - No hint.
 *
 * Resets on:
 * - Another report, a change, a message of the user, or more than 4 other calls in between.
 *
 * Ignores:
 * - Shell commands, failures, and calls of one turn.
 */
export const sameOutcomeDetector: DetectorFactory<'warnAt'> = defineDetector(
  'same_outcome',
  { warnAt: countShape(3) },
  ({ warnAt }, snapshot: typeof EMPTY = EMPTY) => {
    let state = snapshot;
    return {
      observe(step, { epoch, ordinal }) {
        const { outcomeWords: words, tool, tokens, turn } = step;
        if (words === undefined || step.resultMissing || step.transparent) return undefined;
        const [firstLine = 0] = step.lines;
        const isNear = state.tool === tool && state.epoch === epoch && ordinal - state.ordinal <= MAX_BETWEEN + 1;
        const likeness = isNear ? similarity(state.words, words) : 0;
        const isErrand = likeness >= MIN_ERRAND_LIKENESS && similarity(state.tokens, tokens) >= MIN_PROMPT_LIKENESS;
        const isSame = isErrand || (likeness >= MIN_LIKENESS && state.firstLine === firstLine);
        if (isSame && state.turn === turn) return undefined;
        state = {
          tool,
          words,
          firstLine,
          tokens,
          turn,
          ordinal,
          epoch,
          count: isSame ? state.count + 1 : 1,
          evidence: appendEvidence(isSame ? state.evidence : [], step.index),
        };
        const { count, evidence } = state;
        return reportFlag({ kind: 'same_outcome', key: `${tool}:${evidence[0]}`, tool, evidence }, count, warnAt);
      },
      snapshot: () => state,
    };
  },
);
