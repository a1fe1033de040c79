import { whole } from '../../base/shape.ts';
import type { Step } from '../patterns/step.ts';
import { defineDetector, MAX_REMEMBERED, type DetectorFactory } from './define-detector.ts';
import { appendEvidence, reportCount } from './level.ts';

interface State {
  /** The only call of the current turn; null if that turn cannot count. */
  readonly open: { readonly index: number; readonly tool: string; readonly argsKey: string } | null;
  readonly turn: number;
  readonly tool: string;
  /** Arguments of the reads in the row, at most 32. */
  readonly reads: readonly string[];
  readonly first: number;
  readonly evidence: readonly number[];
}

const EMPTY: State = { open: null, turn: -1, tool: '', reads: [], first: -1, evidence: [] };

/**
 * The agent issues reads one per turn, with the same tool on different things, although it could issue them together. A turn is
 * evaluated when the next turn begins.
 *
 * Warns at:
 * - 8 turns (`warnAt`), each with one read by one tool, on different things.
 */
export const sequentialCallsDetector: DetectorFactory<'warnAt'> = defineDetector(
  'sequential_when_parallel',
  { warnAt: whole(2, MAX_REMEMBERED, 8) },
  ({ warnAt }, snapshot: State = EMPTY) => {
    let state = snapshot;
    return {
      observe(step) {
        if (step.turn === state.turn) {
          // A second call: this turn was parallel.
          state = { ...EMPTY, turn: step.turn };
          return undefined;
        }
        state = nextState(state, step);
        const { open, tool, reads, first, evidence } = state;
        if (open?.tool !== tool) return undefined;
        const pattern = { kind: 'sequential_when_parallel', key: `${tool}:${first}`, stuck: false, tool, evidence };
        return reportCount(pattern, reads.length, warnAt);
      },
      snapshot: () => state,
    };
  },
);

function nextState(state: State, { kind, failure, resultMissing, index, tool, argsKey, turn }: Step): State {
  const isIndependent = kind === 'read' && failure === undefined && !resultMissing;
  const nextTurn = { open: isIndependent ? { index, tool, argsKey } : null, turn };
  const { open } = state;
  if (open === null) return { ...EMPTY, ...nextTurn };
  const isContinued = open.tool === state.tool && !state.reads.includes(open.argsKey);
  return {
    ...nextTurn,
    tool: open.tool,
    reads: isContinued ? [...state.reads.slice(1 - MAX_REMEMBERED), open.argsKey] : [open.argsKey],
    first: isContinued ? state.first : open.index,
    evidence: appendEvidence(isContinued ? state.evidence : [], open.index),
  };
}
