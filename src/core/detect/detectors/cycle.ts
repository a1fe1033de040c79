import { whole } from '../../base/shape.ts';
import { defineDetector, MAX_COUNT, type DetectorFactory } from './define-detector.ts';
import { appendEvidence } from './level.ts';

interface State {
  readonly keys: readonly string[];
  /** The last six calls, as positions in `keys`, and their turns. */
  readonly order: readonly (readonly [position: number, turn: number])[];
  readonly steps: number;
  readonly epoch: number;
  readonly evidence: readonly number[];
}

const EMPTY: State = { keys: [], order: [], steps: 0, epoch: 0, evidence: [] };

/**
 * The agent repeats a cycle of two or more calls, in any order, without a new call, a new result or a change. One rule covers
 * alternating calls, longer cycles and irregular repetition: since the last new call, the agent has made at least twice as many
 * calls as there are different calls.
 *
 * Calls are compared together with their results, so a cycle that makes progress never matches.
 *
 * Source of the number: three full rounds, as in the labelled cases of ../shared/scenarios.
 *
 * Warns at:
 * - 3 rounds in all (`roundsToWarn: 2`, since the first round is new), in any order, over at most 32 different calls
 *   (`maxDifferent`).
 * - The kind is `ping_pong` if two calls alternate from turn to turn, else `cycle`.
 * - No hint; strong at 5 rounds; confidence is `1 - 0.75 / rounds`.
 *
 * Resets on:
 * - A new call or result.
 * - A change.
 *
 * Ignores:
 * - Polls and blind actions on a screen.
 */
export const cycleDetector: DetectorFactory<'roundsToWarn' | 'maxDifferent'> = defineDetector(
  'cycle',
  { roundsToWarn: whole(1, MAX_COUNT, 2), maxDifferent: whole(2, 128, 32) },
  ({ roundsToWarn, maxDifferent }, snapshot: State = EMPTY) => {
    let state = snapshot;
    return {
      observe(step, context) {
        if (step.transparent || step.kind === 'poll' || step.resultMissing) return undefined;
        if (step.kind === 'ui' && step.acknowledged && !context.novel) return undefined;
        if (context.novel || context.advanced || state.epoch !== context.epoch) {
          state = { ...EMPTY, epoch: context.epoch };
          return undefined;
        }
        const knownIndex = state.keys.indexOf(step.callKey);
        const isNew = knownIndex < 0 && state.keys.length <= maxDifferent;
        const keys = isNew ? [...state.keys, step.callKey] : state.keys;
        state = {
          keys,
          order: [...state.order.slice(-5), [knownIndex < 0 ? keys.length - 1 : knownIndex, step.turn]],
          steps: state.steps + 1,
          epoch: state.epoch,
          evidence: appendEvidence(state.evidence, step.index),
        };
        const { order, steps, evidence } = state;
        const differentCount = keys.length;
        if (differentCount < 2 || differentCount > maxDifferent || steps < roundsToWarn * differentCount)
          return undefined;
        const rounds = 1 + steps / differentCount;
        return [
          {
            kind: isPingPong(order) ? 'ping_pong' : 'cycle',
            key: keys[0] ?? '',
            stuck: true,
            level: steps >= 2 * roundsToWarn * differentCount ? 'strong' : 'warn',
            confidence: Math.round(Math.min(0.99, 1 - 0.75 / rounds) * 100) / 100,
            occurrences: Math.floor(rounds),
            tool: step.tool,
            evidence,
          },
        ];
      },
      snapshot: () => state,
    };
  },
);

/** Returns true if two calls alternate from turn to turn. Calls of one turn are issued together, in no order. */
function isPingPong(order: State['order']): boolean {
  return (
    order.length >= 4 &&
    order[0]?.[0] !== order[1]?.[0] &&
    order.every(([position, turn], index) => {
      const isNextTurn = index < 1 || turn !== order[index - 1]?.[1];
      return isNextTurn && (index < 2 || position === order[index - 2]?.[0]);
    })
  );
}
