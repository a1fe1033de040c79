import type { RecentCall } from '../../patterns/recent-call.ts';
import { classifyCount, type Classifier } from './classifier.ts';
import { whole } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';

/**
 * The newest `threshold` (default 3) turns or more each held one call of one tool, on different things: they could
 * have been issued together. Only calls that succeeded and, as far as is known, change nothing count. A run whose
 * host reports no turns is never judged. Counts twice the threshold at most.
 *
 * @throws CoxswainError "invalid-definition" when `threshold` is not a whole number from 2 to 16
 */
export const sequentialWhenParallel: ProviderDefinition<{ readonly threshold?: number }, Classifier> = defineProvider<
  { readonly threshold?: number },
  Classifier
>({ threshold: whole(2, 16, 3) }, ({ threshold }): Classifier => {
  return {
    name: 'sequential_when_parallel',
    classify({ trajectory }) {
      // Without turns it is only known which calls overlapped, not which the model issued together.
      const calls = trajectory.turns === 0 ? [] : trajectory.recentCalls(2 * threshold);
      const count = singleCalls(calls);
      return classifyCount(count, threshold, `${count} turns of one independent call each`);
    },
  };
});

/** @param calls oldest first */
function singleCalls(calls: readonly RecentCall[]): number {
  const tool = calls.at(-1)?.tool;
  const asked: string[] = [];
  for (let position = calls.length - 1; position >= 0; position -= 1) {
    const call = calls[position];
    const comparison = call?.comparison;
    if (call === undefined || comparison === undefined || call.tool !== tool || !isIndependent(call)) break;
    if (asked.includes(comparison.argsKey) || sharesTurn(call, calls, position)) break;
    asked.push(comparison.argsKey);
  }
  return asked.length;
}

function isIndependent(call: RecentCall): boolean {
  return !call.failed && (call.kind === 'read' || call.kind === 'unknown');
}

function sharesTurn(call: RecentCall, calls: readonly RecentCall[], position: number): boolean {
  return calls[position - 1]?.turn === call.turn || calls[position + 1]?.turn === call.turn;
}
