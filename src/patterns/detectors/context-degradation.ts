import { hashText } from '../../base/hash.ts';
import type { Json } from '../../base/json.ts';
import { LruMap } from '../../base/lru-map.ts';
import type { PatternDetector } from '../pattern-detector.ts';
import { gradeCount, withEvidence } from './level.ts';
import { whole } from '../../base/shape.ts';
import { defineDetector, MAX_COUNT, type DetectorDefinition } from './define-detector.ts';

/** Options of `contextDegradationDetector`. */
export interface ContextDegradationOptions {
  /** Calls looked back; default 40. */
  readonly windowSize?: number;
  /** Re-reads of unchanged things within the window at which it warns; default 8. */
  readonly rereadsWarnAt?: number;
}

interface State {
  readonly rereads: readonly (readonly [ordinal: number, index: number])[];
  readonly edits: readonly (readonly [string, number])[];
}

/**
 * The agent seems to forget: it keeps re-reading what it has read and nobody has changed, or an edit undoes its own
 * earlier one. Inefficient, not stuck: the finer loops have their own detectors.
 *
 * Warns at:
 * - 8 re-reads (`rereadsWarnAt`) within 40 calls (`windowSize`).
 * - An edit that undoes an earlier one is a `hint`.
 */
export function contextDegradationDetector(options: ContextDegradationOptions = {}): PatternDetector {
  const { windowSize = 40, rereadsWarnAt = 8 } = options;
  return {
    name: 'context_degradation',
    start(snapshot?: Json) {
      // A snapshot given to a detector is its own: the analysis keeps them by name.
      const state = (snapshot as unknown as State | undefined) ?? { rereads: [], edits: [] };
      let rereads = state.rereads;
      const edits = new LruMap<number>(64, state.edits);
      return {
        observe(step, context) {
          if (step.failure !== undefined || step.resultMissing) return undefined;
          const base = { kind: 'context_degradation', stuck: false, tool: step.tool } as const;
          if (
            step.kind === 'write' &&
            step.target !== undefined &&
            step.leavesKey !== undefined &&
            step.fromKey !== undefined
          ) {
            const undone = edits.get(hashText(`${step.target}:${step.leavesKey}>${step.fromKey}`));
            edits.set(hashText(`${step.target}:${step.fromKey}>${step.leavesKey}`), step.index);
            if (undone === undefined) return undefined;
            const evidence = withEvidence([undone], step.index);
            return [{ ...base, key: `edit:${step.target}`, level: 'hint', confidence: 0.5, occurrences: 1, evidence }];
          }
          if (step.kind !== 'read' || context.novel) return undefined;
          rereads = [
            ...rereads.filter(([ordinal]) => context.ordinal - ordinal < windowSize),
            [context.ordinal, step.index] as const,
          ];
          const grade = gradeCount(rereads.length, rereadsWarnAt);
          if (grade === undefined) return undefined;
          const evidence = rereads.map(([, index]) => index);
          return [{ ...base, key: 'rereads', ...grade, occurrences: rereads.length, evidence }];
        },
        snapshot: () => ({ rereads, edits: edits.entries() }),
      };
    },
  };
}

export const contextDegradation: DetectorDefinition<ContextDegradationOptions> =
  defineDetector<ContextDegradationOptions>(
    {
      windowSize: whole(2, 500, 40),
      rereadsWarnAt: whole(1, MAX_COUNT, 8),
    },
    contextDegradationDetector,
  );
