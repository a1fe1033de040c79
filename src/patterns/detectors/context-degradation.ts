import { hashText } from '../../base/hash.ts';
import { LruMap } from '../../base/lru-map.ts';
import { whole } from '../../base/shape.ts';
import { defineDetector, MAX_COUNT, type DetectorFactory } from './define-detector.ts';
import { gradeCount } from './level.ts';

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
 * The agent seems to forget what it read or edited: it reads unchanged content again, or an edit undoes its own earlier edit.
 *
 * Warns at:
 * - 8 re-reads (`rereadsWarnAt`) within 40 calls (`windowSize`).
 * - An edit that undoes an earlier one is a `hint`.
 */
export const contextDegradationDetector: DetectorFactory<ContextDegradationOptions> = defineDetector<
  ContextDegradationOptions,
  State
>(
  'context_degradation',
  { windowSize: whole(2, 500, 40), rereadsWarnAt: whole(1, MAX_COUNT, 8) },
  ({ windowSize, rereadsWarnAt }, state = { rereads: [], edits: [] }) => {
    let { rereads } = state;
    const edits = new LruMap<number>(64, state.edits);
    return {
      observe({ failure, resultMissing, kind, tool, index, target, leavesKey, fromKey }, { novel, ordinal }) {
        if (failure !== undefined || resultMissing) return undefined;
        const common = { kind: 'context_degradation', stuck: false, tool } as const;
        if (kind === 'write' && target !== undefined && leavesKey !== undefined && fromKey !== undefined) {
          const undoneIndex = edits.get(hashText(`${target}:${leavesKey}>${fromKey}`));
          edits.set(hashText(`${target}:${fromKey}>${leavesKey}`), index);
          if (undoneIndex === undefined) return undefined;
          const evidence = [undoneIndex, index];
          return [{ ...common, key: `edit:${target}`, level: 'hint', confidence: 0.5, occurrences: 1, evidence }];
        }
        if (kind !== 'read' || novel) return undefined;
        rereads = [...rereads.filter(([readOrdinal]) => ordinal - readOrdinal < windowSize), [ordinal, index]];
        const grade = gradeCount(rereads.length, rereadsWarnAt);
        if (grade === undefined) return undefined;
        const evidence = rereads.map(([, call]) => call);
        return [{ ...common, key: 'rereads', ...grade, occurrences: rereads.length, evidence }];
      },
      snapshot: () => ({ rereads, edits: edits.entries() }),
    };
  },
);
