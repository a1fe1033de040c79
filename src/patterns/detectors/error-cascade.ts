import type { Json } from '../../base/json.ts';
import { OUTSIDE, type ErrorCategory } from '../../calls/error-class.ts';
import type { PatternDetector } from '../pattern-detector.ts';
import type { Step } from '../step.ts';
import { gradeCount, withEvidence } from './level.ts';
import { defineDetector, repeats, type DetectorDefinition } from './define-detector.ts';

/** Options of `errorCascadeDetector`. */
export interface ErrorCascadeOptions {
  /** Turns in a row that fail, at which it warns; default 6. One fewer where all name one cause that no change of a call cures. */
  readonly warnAt?: number;
}

interface State {
  readonly count: number;
  /** Index of the first of them, by which the row is known. */
  readonly first: number;
  readonly turn: number;
  readonly programs: readonly string[];
  readonly causes: readonly string[];
  /** The one kind of cause outside of the calls that all name so far; null where there is none. */
  readonly outside: ErrorCategory | null;
  /** Lines that spoke of failure, masked. */
  readonly words: readonly string[];
  readonly repeated: boolean;
  /** The agent has paused since the last failure. */
  readonly waited: boolean;
  /** Arguments and speaking lines of the last failure, places aside. */
  readonly lastArgsKey: string;
  readonly lastWordsKey: string;
  readonly evidence: readonly number[];
}

const EMPTY: State = {
  count: 0,
  first: -1,
  turn: -1,
  programs: [],
  causes: [],
  outside: null,
  words: [],
  repeated: false,
  waited: false,
  lastArgsKey: '',
  lastWordsKey: '',
  evidence: [],
};

/**
 * Nothing works any more: failures in a row over two or more tools, or coming back to a cause already met. A row of
 * ever new errors of one tool is a script taking shape and does not count. A silent failure (a grep without a match)
 * neither counts nor ends the row; a success of any other kind ends it.
 *
 * Warns at:
 * - 6 failing turns in a row (`warnAt`), over two or more tools, or coming back to a cause already met.
 * - For one tool: in the same words, or with a cause that no change of the call cures.
 * - One fewer where all failures name one such cause.
 *
 * Begins anew at:
 * - A success.
 *
 * Does not count:
 * - Failures that say nothing.
 * - Ever new errors of one tool: a script is taking shape.
 * - Lines that edit and then run.
 * - A service that cannot be reached, after a deliberate pause.
 */
export function errorCascadeDetector(options: ErrorCascadeOptions = {}): PatternDetector {
  const { warnAt = 6 } = options;
  return {
    name: 'error_cascade',
    start(snapshot?: Json) {
      // A snapshot given to a detector is its own: the analysis keeps them by name.
      let state: State = { ...EMPTY, ...(snapshot as unknown as Partial<State> | undefined) };
      return {
        observe(step) {
          if (step.kind === 'wait') state = { ...state, waited: true };
          if (step.transparent || step.resultMissing || step.failure?.category === 'silent') return undefined;
          // Who pauses on purpose until a service is there gives it time.
          if (state.waited && step.failure?.category === 'network') {
            state = { ...state, waited: false };
            return undefined;
          }
          // Who edits and runs in one line has changed something between two failures.
          if (step.failure !== undefined && step.editsAndRuns) return undefined;
          if (step.failure === undefined) {
            state = EMPTY;
            return undefined;
          }
          const { category, groupKey: cause, spokenKey, placelessKey } = step.failure;
          // The very same call failing in other words moves on, whatever its cause is called: the row begins with it.
          const moved = state.lastArgsKey === step.argsKey && state.lastWordsKey !== placelessKey;
          if (moved) state = EMPTY;
          const isOne = OUTSIDE.has(category) && (state.count === 0 || state.outside === category);
          const sameTurn = state.turn === step.turn;
          state = {
            count: state.count + (sameTurn ? 0 : 1),
            first: state.count === 0 ? step.index : state.first,
            turn: step.turn,
            programs: state.programs.includes(step.program)
              ? state.programs
              : [...state.programs, step.program].slice(-8),
            causes: state.causes.includes(cause) ? state.causes : [...state.causes, cause].slice(-16),
            outside: isOne ? category : null,
            repeated: state.repeated || (!sameTurn && isKnown(state, cause, spokenKey, step)),
            words: state.words.includes(spokenKey) ? state.words : [...state.words, spokenKey].slice(-16),
            waited: false,
            lastArgsKey: step.argsKey,
            lastWordsKey: placelessKey,
            evidence: withEvidence(state.evidence, step.index),
          };
          if (state.programs.length < 2 && !state.repeated) return undefined;
          const grade = gradeCount(state.count, state.outside === null ? warnAt : warnAt - 1);
          if (grade === undefined) return undefined;
          return [
            {
              kind: 'error_cascade',
              key: `from-${state.first}`,
              stuck: true,
              ...grade,
              occurrences: state.count,
              evidence: state.evidence,
            },
          ];
        },
        snapshot: () => state as unknown as Json,
      };
    },
  };
}

/** A cause met before: in the same words, or one that no change of the call cures, whatever it names. */
function isKnown(state: State, cause: string, words: string, { failure }: Step): boolean {
  if (failure !== undefined && OUTSIDE.has(failure.category)) return state.causes.includes(cause);
  return state.words.includes(words);
}

export const errorCascade: DetectorDefinition<ErrorCascadeOptions> = defineDetector<ErrorCascadeOptions>(
  { warnAt: repeats(6) },
  errorCascadeDetector,
);
