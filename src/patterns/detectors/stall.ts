import type { Json } from '../../base/json.ts';
import type { PatternDetector } from '../pattern-detector.ts';
import { withEvidence } from './level.ts';
import { above0, whole } from '../../base/shape.ts';
import { defineDetector, MAX_COUNT, type DetectorDefinition } from './define-detector.ts';

/** Options of `stallDetector`. */
export interface StallOptions {
  /** Calls without a new result or a change, at which it warns; default 20. */
  readonly maxCalls?: number;
  /** Seconds without either, at which it warns when at least three calls were made; default 900. */
  readonly maxSeconds?: number;
}

interface State {
  readonly calls: number;
  /** Index of the first of them, by which the stall is known. */
  readonly first: number;
  readonly sinceMs: number;
  readonly evidence: readonly number[];
}

const EMPTY: State = { calls: 0, first: -1, sinceMs: 0, evidence: [] };
const MIN_CALLS = 3;

/**
 * No new result and no change of the world for many calls, or for long: the coarse net below the finer patterns.
 * Polls, thoughts and pauses do not count as calls, but their time passes.
 *
 * Warns at:
 * - 20 calls (`maxCalls`), confidence 0.85, strong at 40.
 * - 900 seconds and 3 calls (`maxSeconds`), confidence 0.7.
 * - No hint.
 *
 * Begins anew at:
 * - Anything new.
 * - A change.
 *
 * Does not count:
 * - Polls as calls; their time passes.
 */
export function stallDetector(options: StallOptions = {}): PatternDetector {
  const { maxCalls = 20, maxSeconds = 900 } = options;
  return {
    name: 'stall',
    start(snapshot?: Json) {
      // A snapshot given to a detector is its own: the analysis keeps them by name.
      let state: State = (snapshot as unknown as State | undefined) ?? EMPTY;
      return {
        observe(step, context) {
          if (step.transparent || step.kind === 'poll') return undefined;
          if (context.novel || context.advanced) {
            state = { ...EMPTY, sinceMs: step.atMs };
            return undefined;
          }
          const first = state.calls === 0 ? step.index : state.first;
          state = { ...state, calls: state.calls + 1, first, evidence: withEvidence(state.evidence, step.index) };
          const stalledMs = state.sinceMs > 0 ? step.atMs - state.sinceMs : 0;
          const late = stalledMs >= maxSeconds * 1_000 && state.calls >= MIN_CALLS;
          if (state.calls < maxCalls && !late) return undefined;
          return [
            {
              kind: 'stall',
              key: `since-${state.first}`,
              stuck: true,
              level: state.calls >= 2 * maxCalls ? 'strong' : 'warn',
              confidence: state.calls >= maxCalls ? 0.85 : 0.7,
              occurrences: state.calls,
              evidence: state.evidence,
            },
          ];
        },
        snapshot: () => state as unknown as Json,
      };
    },
  };
}

export const stall: DetectorDefinition<StallOptions> = defineDetector<StallOptions>(
  {
    maxCalls: whole(1, MAX_COUNT, 20),
    maxSeconds: above0(86_400, 900),
  },
  stallDetector,
);
