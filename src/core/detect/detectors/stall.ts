import { above0, whole } from '../../base/shape.ts';
import { defineDetector, MAX_COUNT, type DetectorFactory } from './define-detector.ts';
import { appendEvidence, NO_CALLS } from './level.ts';

/** `first`: index of the first call, which identifies the stall. */
const EMPTY = { calls: 0, first: -1, sinceMs: 0, evidence: NO_CALLS };
const MIN_CALLS = 3;

/**
 * There is no new result and no change for many calls, or for a long time. Catches loops that the other detectors miss.
 *
 * Warns at:
 * - 20 calls (`maxCalls`), confidence 0.85, strong at 40.
 * - 900 seconds and 3 calls (`maxSeconds`), confidence 0.7.
 * - No hint.
 *
 * Resets on:
 * - A new call or result.
 * - A change.
 *
 * Ignores:
 * - Polls do not count as calls, but their time counts.
 */
export const stallDetector: DetectorFactory<'maxCalls' | 'maxSeconds'> = defineDetector(
  'stall',
  { maxCalls: whole(1, MAX_COUNT, 20), maxSeconds: above0(86_400, 900) },
  ({ maxCalls, maxSeconds }, snapshot: typeof EMPTY = EMPTY) => {
    let state = snapshot;
    return {
      observe(step, context) {
        if (step.transparent || step.kind === 'poll') return undefined;
        if (context.novel || context.advanced) {
          state = { ...EMPTY, sinceMs: step.atMs };
          return undefined;
        }
        state = {
          calls: state.calls + 1,
          first: state.calls === 0 ? step.index : state.first,
          sinceMs: state.sinceMs,
          evidence: appendEvidence(state.evidence, step.index),
        };
        const { calls, first, sinceMs, evidence } = state;
        const isLate = sinceMs > 0 && step.atMs - sinceMs >= maxSeconds * 1_000 && calls >= MIN_CALLS;
        if (calls < maxCalls && !isLate) return undefined;
        return [
          {
            kind: 'stall',
            key: `since-${first}`,
            stuck: true,
            level: calls >= 2 * maxCalls ? 'strong' : 'warn',
            confidence: calls >= maxCalls ? 0.85 : 0.7,
            occurrences: calls,
            evidence,
          },
        ];
      },
      snapshot: () => state,
    };
  },
);
