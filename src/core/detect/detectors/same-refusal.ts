import { defineDetector, countShape, type DetectorFactory } from './define-detector.ts';
import { appendEvidence, NO_CALLS, NO_KEYS, reportFlag } from './level.ts';

const EMPTY = { gistKey: 0, count: 0, turn: -1, tools: NO_KEYS, evidence: NO_CALLS, userMessages: 0 };
const MAX_TOOLS = 8;

/**
 * Calls of two or more tools get the same short answer in a row, apart from the names in it: a service that is down, a permission that is
 * missing, a tool that is unknown. It reads no words, so an answer that no rule knows as a failure is found.
 *
 * Warns at:
 * - 3 turns in a row (`warnAt`) of two or more tools. Arguments, quotations, numbers and the name of the tool are ignored.
 * - No hint.
 *
 * Resets on:
 * - Another answer, or a turn with several calls.
 * - A message of the user.
 *
 * Ignores:
 * - Acknowledgements, changes, and answers of fewer than 3 words or over 600 characters.
 */
export const sameRefusalDetector: DetectorFactory<'warnAt'> = defineDetector(
  'same_refusal',
  { warnAt: countShape(3) },
  ({ warnAt }, snapshot: typeof EMPTY = EMPTY) => {
    let state = snapshot;
    return {
      observe(step, { userMessages }) {
        if (step.transparent || step.resultMissing) return undefined;
        const { gistKey, turn, tool } = step;
        if (gistKey === undefined || state.turn === turn) {
          state = { ...EMPTY, turn };
          return undefined;
        }
        const previous = state.gistKey === gistKey && state.userMessages === userMessages ? state : EMPTY;
        state = {
          gistKey,
          count: previous.count + 1,
          turn,
          tools: previous.tools.includes(tool) ? previous.tools : [...previous.tools.slice(1 - MAX_TOOLS), tool],
          evidence: appendEvidence(previous.evidence, step.index),
          userMessages,
        };
        const { count, evidence, tools } = state;
        if (tools.length < 2) return undefined;
        return reportFlag({ kind: 'same_refusal', key: `${gistKey}`, tool, evidence }, count, warnAt);
      },
      snapshot: () => state,
    };
  },
);
