import { similarity } from '../calls/tokens.ts';
import { defineDetector, countShape, type DetectorFactory } from './define-detector.ts';
import { appendEvidence, NO_CALLS, NO_KEYS, reportFlag } from './level.ts';

const EMPTY = { tool: '', hits: NO_CALLS, turn: -1, count: 0, queries: NO_KEYS, evidence: NO_CALLS, userMessages: 0 };
const MIN_LIKENESS = 0.9;
const MIN_QUERIES = 3;

/**
 * A search finds the same things for different queries. The addresses and ids in the results are compared, so other words around them do
 * not matter.
 *
 * Warns at:
 * - 4 turns in a row (`warnAt`) with at least three different queries and nearly the same hits (two or more, nine of ten equal).
 * - No hint.
 *
 * Resets on:
 * - Other hits, or a new result of another tool.
 * - A message of the user.
 */
export const sameHitsDetector: DetectorFactory<'warnAt'> = defineDetector(
  'same_hits',
  { warnAt: countShape(4) },
  ({ warnAt }, snapshot: typeof EMPTY = EMPTY) => {
    let state = snapshot;
    return {
      observe(step, { novel, userMessages }) {
        const { hits, tool, turn, argsKey } = step;
        if (step.transparent || step.resultMissing) return undefined;
        if (hits === undefined) {
          if (novel) state = EMPTY;
          return undefined;
        }
        const isSame =
          state.tool === tool && state.userMessages === userMessages && similarity(state.hits, hits) >= MIN_LIKENESS;
        if (isSame && state.turn === turn) return undefined;
        const previous = isSame ? state : EMPTY;
        state = {
          tool,
          hits,
          turn,
          count: previous.count + 1,
          queries: previous.queries.includes(argsKey)
            ? previous.queries
            : [...previous.queries, argsKey].slice(0, MIN_QUERIES),
          evidence: appendEvidence(previous.evidence, step.index),
          userMessages,
        };
        const { count, evidence, queries } = state;
        if (queries.length < MIN_QUERIES) return undefined;
        return reportFlag({ kind: 'same_hits', key: `${tool}:${hits[0]}`, tool, evidence }, count, warnAt);
      },
      snapshot: () => state,
    };
  },
);
