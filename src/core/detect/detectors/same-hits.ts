import { similarity } from '../calls/tokens.ts';
import { defineDetector, countShape, type DetectorFactory } from './define-detector.ts';
import { appendEvidence, gradeCount } from './level.ts';

interface State {
  readonly tool: string;
  readonly hits: readonly number[];
  readonly turn: number;
  readonly count: number;
  readonly queries: readonly string[];
  readonly evidence: readonly number[];
  readonly userMessages: number;
}

const EMPTY: State = { tool: '', hits: [], turn: -1, count: 0, queries: [], evidence: [], userMessages: 0 };
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
  ({ warnAt }, snapshot: State = EMPTY) => {
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
        const grade = gradeCount(count, warnAt);
        if (grade === undefined || grade.level === 'hint' || queries.length < MIN_QUERIES) return undefined;
        return [
          { kind: 'same_hits', key: `${tool}:${hits[0]}`, stuck: true, ...grade, occurrences: count, tool, evidence },
        ];
      },
      snapshot: () => state,
    };
  },
);
