import { defineDetector, countShape, type DetectorFactory } from './define-detector.ts';
import { appendEvidence, gradeCount } from './level.ts';

interface State {
  readonly turn: number;
  /** Calls of the turn with their results, at most 256. */
  readonly seen: readonly string[];
  readonly repeats: number;
  readonly evidence: readonly number[];
}

const EMPTY: State = { turn: -1, seen: [], repeats: 0, evidence: [] };
const MAX_SEEN = 256;

/**
 * The agent issues the same calls again in one turn, before it has seen a result. Results that differ do not count.
 *
 * Source of the number: of 727 runs of General-AgentBench 12 have a turn with three such calls, and one of these succeeded; of 336 runs
 * of mini-SWE-agent, Claude Code and Codex none has.
 *
 * Warns at:
 * - 3 calls of one turn that it holds already, with the same result (`warnAt`). They need not repeat the same call.
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
  ({ warnAt }, snapshot: State = EMPTY) => {
    let state = snapshot;
    return {
      observe(step) {
        const { kind, turn, callKey, index, tool } = step;
        if (step.transparent || step.acknowledged || step.resultMissing || kind === 'poll' || kind === 'ui')
          return undefined;
        if (turn !== state.turn) state = { ...EMPTY, turn };
        const { seen, repeats, evidence } = state;
        if (!seen.includes(callKey)) {
          state = { ...state, seen: [...seen.slice(1 - MAX_SEEN), callKey] };
          return undefined;
        }
        state = { ...state, repeats: repeats + 1, evidence: appendEvidence(evidence, index) };
        const grade = gradeCount(state.repeats, warnAt);
        if (grade === undefined || grade.level === 'hint') return undefined;
        const key = `turn ${turn}`;
        return [
          { kind: 'flood', key, stuck: true, ...grade, occurrences: state.repeats, tool, evidence: state.evidence },
        ];
      },
      snapshot: () => state,
    };
  },
);
