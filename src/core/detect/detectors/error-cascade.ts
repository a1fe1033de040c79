import { OUTSIDE_CAUSES } from '../calls/error-class.ts';
import { defineDetector, countShape, type DetectorFactory } from './define-detector.ts';
import { appendEvidence, NO_CALLS, NO_KEYS, reportCount } from './level.ts';

const EMPTY = {
  count: 0,
  /** Index of the first failure, which identifies the row. */
  first: -1,
  turn: -1,
  programs: NO_KEYS,
  /** Keys of messages, and of causes that other arguments do not cure; at most 16. */
  causes: NO_KEYS,
  repeated: false,
  lastArgsKey: '',
  lastMessageKey: '',
  evidence: NO_CALLS,
};

/**
 * Calls of two or more tools fail in a row, or calls of one tool with several causes of which one recurs. A row of different errors
 * of one tool does not count: the agent may be developing a script. Nor does one error, which `repeated_error` counts.
 *
 * Warns at:
 * - 6 failing turns in a row (`warnAt`), over two or more tools or programs, or with several causes of which one recurs: the
 *   same message, or a cause that other arguments do not fix.
 *
 * Resets on:
 * - A success.
 * - The same call failing with another message.
 *
 * Ignores:
 * - Failures without a message.
 */
export const errorCascadeDetector: DetectorFactory<'warnAt'> = defineDetector(
  'error_cascade',
  { warnAt: countShape(6) },
  ({ warnAt }, snapshot: typeof EMPTY = EMPTY) => {
    let state = snapshot;
    return {
      observe(step) {
        const { failure, turn } = step;
        const program = `${step.tool}:${step.program}`;
        if (step.transparent || step.resultMissing || failure?.category === 'silent') return undefined;
        if (failure === undefined) {
          state = EMPTY;
          return undefined;
        }
        if (state.lastArgsKey === step.argsKey && state.lastMessageKey !== failure.messageKey) state = EMPTY;
        const cause = OUTSIDE_CAUSES.has(failure.category) ? failure.groupKey : failure.messageKey;
        const isSameTurn = state.turn === turn;
        state = {
          count: state.count + (isSameTurn ? 0 : 1),
          first: state.count === 0 ? step.index : state.first,
          turn,
          programs: state.programs.includes(program) ? state.programs : [...state.programs.slice(-7), program],
          causes: state.causes.includes(cause) ? state.causes : [...state.causes.slice(-15), cause],
          repeated: state.repeated || (!isSameTurn && state.causes.includes(cause)),
          lastArgsKey: step.argsKey,
          lastMessageKey: failure.messageKey,
          evidence: appendEvidence(state.evidence, step.index),
        };
        const { count, evidence } = state;
        if (state.programs.length < 2 && !(state.repeated && state.causes.length > 1)) return undefined;
        const pattern = { kind: 'error_cascade', key: `from-${state.first}`, evidence };
        return reportCount(pattern, count, warnAt);
      },
      snapshot: () => state,
    };
  },
);
