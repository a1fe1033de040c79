import { defineDetector, countShape, type DetectorFactory } from './define-detector.ts';
import { appendEvidence, NO_CALLS, NO_KEYS, reportFlag } from './level.ts';

/** `calls`: the calls of the turn with their results, at most 256. */
const EMPTY = { turn: -1, calls: NO_KEYS, causes: NO_KEYS, evidence: NO_CALLS };
const MAX_CALLS = 256;
const HANDFUL = 4;
/** A result of this length says what was read. An error that no rule knows is shorter. */
const TELLING_CHARS = 1_000;

/**
 * The agent issues the same calls again in one turn, before it has seen a result. Results that differ do not count. Calls with the same long
 * result are the same, however they are written.
 *
 * Source of the number: of 356 runs of General-AgentBench 8 have a turn with three equal calls, and none of these succeeded; of 336 runs of
 * mini-SWE-agent, Claude Code and Codex none has.
 *
 * Warns at:
 * - 3 calls of one turn that it holds already, with the same result (`warnAt`). They need not repeat the same call.
 * - 3 equal calls in a turn of more than four.
 * - In a turn that holds a call twice, calls that fail in the same way are the same.
 *
 * Resets on:
 * - A turn.
 *
 * Ignores:
 * - Polls, pauses, notes and actions on a screen.
 * - Acknowledgements.
 */
export const floodDetector: DetectorFactory<'warnAt'> = defineDetector(
  'flood',
  { warnAt: countShape(3) },
  ({ warnAt }, snapshot: typeof EMPTY = EMPTY) => {
    let state = snapshot;
    return {
      observe(step) {
        const { kind, turn, index, tool } = step;
        if (step.transparent || step.acknowledged || step.resultMissing || kind === 'poll' || kind === 'ui')
          return undefined;
        const { calls, causes, evidence } = turn === state.turn ? state : EMPTY;
        const isTelling = step.failure === undefined && step.resultChars >= TELLING_CHARS;
        const key = isTelling ? `${tool}:${step.resultKey}` : step.callKey;
        const cause = step.failure === undefined ? key : `${tool}:${step.failure.messageKey}`;
        const isRepeat = calls.includes(key);
        state = {
          turn,
          calls: [...calls.slice(1 - MAX_CALLS), key],
          causes: [...causes.slice(1 - MAX_CALLS), cause],
          evidence: isRepeat || causes.includes(cause) ? appendEvidence(evidence, index) : evidence,
        };
        const counts = new Map<string, number>();
        for (const call of state.calls) counts.set(call, (counts.get(call) ?? 0) + 1);
        const exact = state.calls.length - counts.size;
        const repeats = exact === 0 ? 0 : state.causes.length - new Set(state.causes).size;
        const equal = Math.max(...counts.values());
        const count = state.calls.length > HANDFUL ? Math.max(repeats, equal) : repeats;
        const pattern = { kind: 'flood', key: `turn ${turn}`, occurrences: repeats, tool, evidence: state.evidence };
        return reportFlag(pattern, count, warnAt);
      },
      snapshot: () => state,
    };
  },
);
