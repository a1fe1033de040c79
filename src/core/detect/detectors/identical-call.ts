import { LruMap } from '../../base/lru-map.ts';
import { whole } from '../../base/shape.ts';
import { defineDetector, MAX_COUNT, countShape, type DetectorFactory } from './define-detector.ts';
import { appendEvidence, reportCount } from './level.ts';

interface State {
  readonly entries: readonly (readonly [string, Entry])[];
  readonly novelAt: number;
  readonly epoch: number;
}

interface Entry {
  readonly resultKey: string;
  readonly count: number;
  /** The result changed without a change of the world, in this epoch. */
  readonly moves: boolean;
  readonly ordinal: number;
  readonly turn: number;
  readonly evidence: readonly number[];
}

/** Far more than `maxBetween`; it bounds the snapshot. */
const MAX_ENTRIES = 64;
/** More equal results are needed where the result moves by itself: a flaky test that is measured, a job. */
const EXTRA_REPEATS = 2;
/** A shorter result of a read is looked at again after other news. */
const TELLING_CHARS = 200;

/**
 * The agent repeats the same call and gets the same result, without a change in between. A few other calls may occur in between.
 * Thoughts and pauses do not count. Equal calls of one turn count once; `flood` counts them.
 *
 * Source of the number: all labelled cases of ../shared/scenarios and of the real windows start at the third identical call.
 *
 * Warns at:
 * - 3 calls (`warnAt`), with at most 3 other calls between two of them (`maxBetween`), none of these new.
 * - 10 calls for a screen action whose result does not show the screen (`blindWarnAt`).
 * - Two more if the call had another result in the same epoch: the result changes by itself.
 * - One more for a read with a result of 200 characters or more, with something new or up to 5 other calls in between.
 * - For a change whose result only acknowledges it, no other call may occur in between.
 *
 * Resets on:
 * - A new epoch.
 * - Another result.
 * - Something new since the last call, unless it is a read with a long result.
 *
 * Ignores:
 * - Polls.
 * - Failures with a message, which `repeated_error` counts.
 */
export const identicalCallDetector: DetectorFactory<'warnAt' | 'blindWarnAt' | 'maxBetween'> = defineDetector(
  'identical_call',
  { warnAt: countShape(3), blindWarnAt: countShape(10), maxBetween: whole(0, MAX_COUNT, 3) },
  ({ warnAt, blindWarnAt, maxBetween }, state: State = { entries: [], novelAt: -1, epoch: 0 }) => {
    let entries = new LruMap<Entry>(MAX_ENTRIES, state.entries);
    let { novelAt, epoch } = state;
    return {
      observe(step, context) {
        if (context.epoch !== epoch) entries = new LruMap(MAX_ENTRIES);
        epoch = context.epoch;
        if (context.novel && !step.transparent) novelAt = context.ordinal;
        if (step.kind === 'poll' || step.kind === 'wait' || step.resultMissing) return undefined;
        const previous = entries.get(step.argsKey);
        const isTelling = step.kind === 'read' && step.resultChars >= TELLING_CHARS;
        const allowedBetween = step.kind === 'write' && step.acknowledged ? 0 : maxBetween + (isTelling ? 2 : 0);
        const isRepeat =
          previous !== undefined && (step.transparent || context.ordinal - previous.ordinal <= allowedBetween + 1);
        const hasSameResult = isRepeat && previous.resultKey === step.resultKey;
        if (hasSameResult && previous.turn === step.turn) {
          entries.set(step.argsKey, { ...previous, ordinal: context.ordinal });
          return undefined;
        }
        const count = (hasSameResult ? previous.count : 0) + 1;
        const hasNews = previous !== undefined && novelAt > previous.ordinal;
        const moves = isRepeat && (previous.moves || !hasSameResult);
        const evidence = appendEvidence(hasSameResult ? previous.evidence : [], step.index);
        const { resultKey, turn } = step;
        entries.set(step.argsKey, { resultKey, count, moves, ordinal: context.ordinal, turn, evidence });
        if (step.failure !== undefined && step.failure.category !== 'silent') return undefined;
        const threshold = step.kind === 'ui' && step.acknowledged ? blindWarnAt : warnAt;
        if (hasNews && !isTelling) return undefined;
        const extra = (hasNews ? 1 : 0) + (moves ? EXTRA_REPEATS : 0);
        const pattern = { kind: 'identical_call', key: step.callKey, tool: step.tool, evidence };
        return reportCount(pattern, count, threshold + extra);
      },
      snapshot: () => ({ entries: entries.entries(), novelAt, epoch }),
    };
  },
);
