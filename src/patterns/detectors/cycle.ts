import type { Json } from '../../base/json.ts';
import type { PatternDetector } from '../pattern-detector.ts';
import type { Step } from '../step.ts';
import { withEvidence } from './level.ts';
import { whole } from '../../base/shape.ts';
import { defineDetector, MAX_COUNT, type DetectorDefinition } from './define-detector.ts';

/** Options of `cycleDetector`. */
export interface CycleOptions {
  /** Full rounds after the first at which it warns; default 2, so three rounds in all. */
  readonly roundsToWarn?: number;
  /** Longest cycle looked for, in different calls; default 32. */
  readonly maxDifferent?: number;
}

interface State {
  /** Different calls since the last new one, in order of appearance. */
  readonly keys: readonly string[];
  /** Arguments of the first of them, and whether all have the same. */
  readonly argsKey: string;
  readonly oneCall: boolean;
  /** The last calls since the last new one, as positions in `keys`. */
  readonly order: readonly number[];
  readonly steps: number;
  readonly epoch: number;
  readonly evidence: readonly number[];
}

const EMPTY: State = { keys: [], argsKey: '', oneCall: true, order: [], steps: 0, epoch: 0, evidence: [] };

/**
 * A circle of two or more calls: nothing new (no new call, no new result, no change of the world) while the same
 * few calls come round again, in any order. One rule for ping-pong, longer cycles and irregular churn: since the last
 * new thing the agent has made at least twice as many calls as it has different ones.
 *
 * Results belong to the key, so a circle that makes progress never matches. Polls, thoughts, pauses and blind
 * actions on a screen stand outside.
 *
 * Source of the number: three full rounds, as in the labelled cases of ../shared/scenarios.
 *
 * Warns at:
 * - 3 rounds in all (`roundsToWarn: 2`, since the first round is new), in any order, over at most 32 different calls
 *   (`maxDifferent`).
 * - The kind is `ping_pong` when two calls alternate, else `cycle`.
 * - No hint; strong at 5 rounds; confidence is `1 - 0.75 / rounds`.
 *
 * Begins anew at:
 * - Anything new.
 * - A change.
 *
 * Does not count:
 * - Polls and blind actions on a screen.
 * - One call with different results, unless it turns a screen back and forth.
 */
export function cycleDetector(options: CycleOptions = {}): PatternDetector {
  const { roundsToWarn = 2, maxDifferent = 32 } = options;
  return {
    name: 'cycle',
    start(snapshot?: Json) {
      // A snapshot given to a detector is its own: the analysis keeps them by name.
      let state: State = (snapshot as unknown as State | undefined) ?? EMPTY;
      return {
        observe(step, context) {
          if (step.transparent || step.kind === 'poll' || step.resultMissing) return undefined;
          // A blind action repeated may be right, a new one goes on.
          if (step.kind === 'ui' && step.acknowledged && !context.novel) return undefined;
          if (context.novel || context.advanced || state.epoch !== context.epoch) {
            state = { ...EMPTY, epoch: context.epoch };
            return undefined;
          }
          state = extend(state, step, maxDifferent);
          const different = state.keys.length;
          // One call that comes out this way and that is being measured; what goes back and forth on a screen is not.
          if (state.oneCall && step.kind !== 'ui') return undefined;
          if (different < 2 || different > maxDifferent || state.steps < roundsToWarn * different) return undefined;
          const rounds = 1 + state.steps / different;
          return [
            {
              kind: isPingPong(state.order) ? 'ping_pong' : 'cycle',
              key: state.keys[0] ?? '',
              stuck: true,
              level: state.steps >= 2 * roundsToWarn * different ? 'strong' : 'warn',
              confidence: Math.round(Math.min(0.99, 1 - 0.75 / rounds) * 100) / 100,
              occurrences: Math.floor(rounds),
              tool: step.tool,
              evidence: state.evidence,
            },
          ];
        },
        snapshot: () => state as unknown as Json,
      };
    },
  };
}

function extend(state: State, { callKey, argsKey, index }: Step, maxDifferent: number): State {
  const known = state.keys.indexOf(callKey);
  const keys = known >= 0 || state.keys.length > maxDifferent ? state.keys : [...state.keys, callKey];
  const position = known >= 0 ? known : keys.length - 1;
  return {
    keys,
    argsKey: state.steps === 0 ? argsKey : state.argsKey,
    oneCall: state.steps === 0 || (state.oneCall && state.argsKey === argsKey),
    order: [...state.order.slice(-5), position],
    steps: state.steps + 1,
    epoch: state.epoch,
    evidence: withEvidence(state.evidence, index),
  };
}

function isPingPong(order: readonly number[]): boolean {
  if (order.length < 4) return false;
  return order.every((position, at) => at < 2 || position === order[at - 2]) && order[0] !== order[1];
}

export const cycle: DetectorDefinition<CycleOptions> = defineDetector<CycleOptions>(
  {
    roundsToWarn: whole(1, MAX_COUNT, 2),
    maxDifferent: whole(2, 128, 32),
  },
  cycleDetector,
);
