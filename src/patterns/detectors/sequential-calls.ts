import type { Json } from '../../base/json.ts';
import type { PatternDetector } from '../pattern-detector.ts';
import type { Step } from '../step.ts';
import { gradeCount, withEvidence } from './level.ts';
import { whole } from '../../base/shape.ts';
import { defineDetector, MAX_REMEMBERED, type DetectorDefinition } from './define-detector.ts';

/** Options of `sequentialCallsDetector`. */
export interface SequentialCallsOptions {
  /** Turns in a row that each held one independent read, at which it warns; default 8. */
  readonly warnAt?: number;
}

interface State {
  /** The call of the turn that is not over yet; null when that turn cannot count. */
  readonly open: {
    readonly turn: number;
    readonly index: number;
    readonly tool: string;
    readonly argsKey: string;
  } | null;
  readonly turn: number;
  readonly tool: string;
  readonly asked: readonly string[];
  /** Index of the first of them. */
  readonly first: number;
  readonly evidence: readonly number[];
}

const EMPTY: State = { open: null, turn: -1, tool: '', asked: [], first: -1, evidence: [] };

/**
 * One read a turn, again and again with the same tool on different things: they could have been issued together.
 * Inefficient, not stuck. A turn is judged when the next one begins.
 *
 * Warns at:
 * - 8 turns (`warnAt`), each with one read by one tool, on different things.
 */
export function sequentialCallsDetector(options: SequentialCallsOptions = {}): PatternDetector {
  const { warnAt = 8 } = options;
  return {
    name: 'sequential_when_parallel',
    start(snapshot?: Json) {
      // A snapshot given to a detector is its own: the analysis keeps them by name.
      let state: State = (snapshot as unknown as State | undefined) ?? EMPTY;
      return {
        observe(step) {
          if (step.turn === state.turn) {
            // A second call in the turn: this one was parallel.
            state = { ...EMPTY, turn: step.turn };
            return undefined;
          }
          state = further(state, step);
          const { open, tool, asked, evidence } = state;
          const grade = gradeCount(asked.length, warnAt);
          if (grade === undefined || open?.tool !== tool) return undefined;
          return [
            {
              kind: 'sequential_when_parallel',
              key: `${tool}:${state.first}`,
              stuck: false,
              ...grade,
              occurrences: asked.length,
              tool,
              evidence,
            },
          ];
        },
        snapshot: () => state as unknown as Json,
      };
    },
  };
}

/** Takes the finished turn into the row, or begins a new row with it; the step opens the next. */
function further(state: State, step: Step): State {
  const next = { open: independent(step), turn: step.turn };
  const { open } = state;
  if (open === null) return { ...EMPTY, ...next };
  const goesOn = open.tool === state.tool && !state.asked.includes(open.argsKey);
  return {
    ...next,
    tool: open.tool,
    asked: goesOn ? [...state.asked.slice(-31), open.argsKey] : [open.argsKey],
    first: goesOn ? state.first : open.index,
    evidence: withEvidence(goesOn ? state.evidence : [], open.index),
  };
}

function independent(step: Step): State['open'] {
  if (step.kind !== 'read' || step.failure !== undefined || step.resultMissing) return null;
  return { turn: step.turn, index: step.index, tool: step.tool, argsKey: step.argsKey };
}

export const sequentialCalls: DetectorDefinition<SequentialCallsOptions> = defineDetector<SequentialCallsOptions>(
  { warnAt: whole(2, MAX_REMEMBERED, 8) },
  sequentialCallsDetector,
);
