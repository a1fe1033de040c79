import type { Json } from '../../base/json.ts';
import { LruMap } from '../../base/lru-map.ts';
import type { PatternDetector } from '../pattern-detector.ts';
import { gradeCount, withEvidence } from './level.ts';
import { whole } from '../../base/shape.ts';
import { defineDetector, MAX_COUNT, repeats, type DetectorDefinition } from './define-detector.ts';

/** Options of `identicalCallDetector`. */
export interface IdenticalCallOptions {
  /** Equal calls with equal results at which it warns; default 3. */
  readonly warnAt?: number;
  /** The same for actions on a screen whose answer shows nothing of it; default 10. */
  readonly blindWarnAt?: number;
  /** Other calls that may stand between two equal ones, none of them new before the last; default 3. */
  readonly maxBetween?: number;
}

interface State {
  readonly entries: readonly (readonly [string, Entry])[];
  /** Ordinal of the last new call that was no thought. */
  readonly novelAt: number;
  readonly epoch: number;
}

interface Entry {
  readonly resultKey: string;
  /** The result before this one, if it was another. */
  readonly earlierKey?: string;
  readonly count: number;
  /** Its answer moves without anything being done, in this epoch: see `tellsOfMoves`. */
  readonly moves: boolean;
  readonly ordinal: number;
  readonly turn: number;
  readonly evidence: readonly number[];
}

/** Far more than may stand between two equal calls; it bounds the snapshot. */
const MAX_ENTRIES = 64;
/** Where an answer moves by itself, equal ones in a row are no wonder. */
const CHANCE_PATIENCE = 2;

/**
 * The same call with the same result again and again, while nothing in the world has changed. A few other calls may
 * stand between; thoughts and pauses do not count at all; equal calls of one turn count once; polls have their own
 * detector and loud failures theirs (`repeated_error`). Another result begins the count anew, and a call whose result
 * moves by itself (a flaky test that is being measured, a job that gets on) needs two more.
 *
 * Source of the numbers: three is where every labelled case of ../shared/scenarios and of the real windows begins
 * ("3rd unchanged identical call").
 */
export function identicalCallDetector(options: IdenticalCallOptions = {}): PatternDetector {
  const { warnAt = 3, blindWarnAt = 10, maxBetween = 3 } = options;
  return {
    name: 'identical_call',
    start(snapshot?: Json) {
      // A snapshot given to a detector is its own: the analysis keeps them by name.
      const state = (snapshot as unknown as State | undefined) ?? { entries: [], novelAt: -1, epoch: 0 };
      let entries = new LruMap<Entry>(MAX_ENTRIES, state.entries);
      let { novelAt, epoch } = state;
      return {
        observe(step, context) {
          if (context.epoch !== epoch) entries = new LruMap(MAX_ENTRIES);
          epoch = context.epoch;
          if (context.novel && !step.transparent) novelAt = context.ordinal;
          if (step.kind === 'poll' || step.kind === 'wait' || step.resultMissing) return undefined;
          const before = entries.get(step.argsKey);
          // Equal changes with looks between may add up; whether anything moves is for `cycle` to tell.
          const between = step.kind === 'write' && step.acknowledged ? 0 : maxBetween;
          const again = before !== undefined && (step.transparent || context.ordinal - before.ordinal <= between + 1);
          const loud = step.failure !== undefined && step.failure.category !== 'silent';
          if (loud && !again) return undefined;
          const same = again && before.resultKey === step.resultKey;
          if (same && before.turn === step.turn) return undefined;
          const earlierKey = again ? (same ? before.earlierKey : before.resultKey) : undefined;
          const entry: Entry = {
            resultKey: step.resultKey,
            ...(earlierKey === undefined ? {} : { earlierKey }),
            count: same ? before.count + 1 : 1,
            moves: again && (before.moves || (!same && tellsOfMoves(before, step.resultKey))),
            ordinal: context.ordinal,
            turn: step.turn,
            evidence: withEvidence(same ? before.evidence : [], step.index),
          };
          entries.set(step.argsKey, entry);
          if (loud) return undefined;
          const needed = step.kind === 'ui' && step.acknowledged ? blindWarnAt : warnAt;
          const patience = entry.moves ? CHANCE_PATIENCE : 0;
          const grade = gradeCount(entry.count, needed + patience);
          // Something new since the last time: the agent came back to it, it is not going round.
          if (grade === undefined || (before !== undefined && novelAt > before.ordinal)) return undefined;
          return [
            {
              kind: 'identical_call',
              key: step.callKey,
              stuck: true,
              ...grade,
              occurrences: entry.count,
              tool: step.tool,
              evidence: entry.evidence,
            },
          ];
        },
        snapshot: () => ({ entries: entries.entries(), novelAt, epoch }) as unknown as Json,
      };
    },
  };
}

/**
 * Whether a new answer to an old call tells that it moves by itself: it is the one before the last again (a flaky test that
 * is being measured, a game of chance), or it had stood and has moved on. A screen that is scrolled through tells neither.
 */
function tellsOfMoves(before: Entry, resultKey: string): boolean {
  return before.count > 1 || before.earlierKey === resultKey;
}

export const identicalCall: DetectorDefinition<IdenticalCallOptions> = defineDetector<IdenticalCallOptions>(
  {
    warnAt: repeats(3),
    blindWarnAt: repeats(10),
    maxBetween: whole(0, MAX_COUNT, 3),
  },
  identicalCallDetector,
);
