import type { Json } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import { LruMap } from '../../base/lru-map.ts';
import type { PatternDetector } from '../pattern-detector.ts';
import type { Step } from '../step.ts';
import { gradeCount, surer, withEvidence } from './level.ts';
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
  readonly shapeKey: number;
  readonly effectKey?: string;
  /** Numbers of the last answer, and which way each has moved while nothing else did: 1 up, -1 down, 0 not yet, 2 both. */
  readonly numbers: readonly number[];
  readonly ways: readonly number[];
  /** Answers in a row that differ in digits at most. */
  readonly alike: number;
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
 *
 * Warns at:
 * - 3 calls (`warnAt`), with at most 3 other calls between two of them (`maxBetween`), none of these new.
 * - 10 calls for an action on a screen whose answer shows nothing (`blindWarnAt`).
 * - 12 calls where only digits differ and each number that moves has gone both ways.
 * - For a change that is merely acknowledged, nothing may stand between.
 * - On a screen, results are equal with the same effect line, the same address and at most a fifth of new lines.
 *
 * Begins anew at:
 * - A new epoch.
 * - Another result.
 * - Something new since the last time.
 *
 * Does not count:
 * - Polls.
 * - Failures that say something: they are `repeated_error`.
 * - Two calls, where the result moves by itself: it went back to the one before, as a flaky test does, or it stood and moved
 *   on, as a job does.
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
          const before = entries.get(step.argsKey);
          const ways = before?.shapeKey === step.shapeKey ? waysOf(before, step.numbers) : [];
          // Digits that have gone both ways, or the same effect on a screen, are nothing new by themselves.
          const isSameCall =
            before !== undefined && (ways.includes(2) || isSameScreen(before, step, context.freshLines));
          if (context.novel && !step.transparent && !isSameCall) novelAt = context.ordinal;
          if (step.kind === 'poll' || step.kind === 'wait' || step.resultMissing) return undefined;
          // Equal changes with looks between may add up; whether anything moves is for `cycle` to tell.
          const between = step.kind === 'write' && step.acknowledged ? 0 : maxBetween;
          const again = before !== undefined && (step.transparent || context.ordinal - before.ordinal <= between + 1);
          const loud = step.failure !== undefined && step.failure.category !== 'silent';
          if (loud && !again) return undefined;
          const same = again && (before.resultKey === step.resultKey || isSameScreen(before, step, context.freshLines));
          const isAlike = again && before.shapeKey === step.shapeKey;
          if (same && before.turn === step.turn) return undefined;
          const earlierKey = again ? (same ? before.earlierKey : before.resultKey) : undefined;
          const entry: Entry = {
            resultKey: step.resultKey,
            shapeKey: step.shapeKey,
            ...present({ effectKey: step.effectKey }),
            numbers: step.numbers,
            ways: isAlike ? ways : [],
            alike: isAlike ? before.alike + 1 : 1,
            ...(earlierKey === undefined ? {} : { earlierKey }),
            count: same ? before.count + 1 : 1,
            moves: again && (before.moves || (!same && tellsOfMoves(before, step.resultKey))),
            ordinal: context.ordinal,
            turn: step.turn,
            evidence: withEvidence(same || isAlike ? before.evidence : [], step.index),
          };
          entries.set(step.argsKey, entry);
          if (loud) return undefined;
          const needed = step.kind === 'ui' && step.acknowledged ? blindWarnAt : warnAt;
          const patience = entry.moves ? CHANCE_PATIENCE : 0;
          // Digits that move without leading anywhere are no movement; it takes more of them to tell.
          const isNoise =
            entry.alike > entry.count &&
            entry.ways.includes(2) &&
            !entry.ways.some((way) => Math.abs(way) === 1) &&
            step.kind !== 'ui' &&
            step.kind !== 'execute';
          const bySame = gradeCount(entry.count, needed + patience);
          const grade = isNoise ? surer(bySame, gradeCount(entry.alike, NOISE_WARN_AT)) : bySame;
          // Something new since the last time: the agent came back to it, it is not going round.
          if (grade === undefined || (before !== undefined && novelAt > before.ordinal)) return undefined;
          return [
            {
              kind: 'identical_call',
              key: step.callKey,
              stuck: true,
              ...grade,
              occurrences: isNoise ? entry.alike : entry.count,
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

/** Where only digits move: more than any measurement of the labelled cases takes. */
const NOISE_WARN_AT = 12;
/** A screen of which more is new shows something else. */
const MAX_FRESH = 0.2;

/** The same was done, at the same address, and hardly anything of the screen is new: a clock or an advertisement. */
function isSameScreen(before: Entry, step: Step, freshLines: number): boolean {
  return (step.effectKey ?? '') !== '' && before.effectKey === step.effectKey && freshLines <= MAX_FRESH;
}

function waysOf(before: Entry, numbers: readonly number[]): readonly number[] {
  return numbers.map((value, at) => {
    const way = Math.sign(value - (before.numbers[at] ?? value));
    const known = before.ways[at] ?? 0;
    return way === 0 || way === known ? known : known === 0 ? way : 2;
  });
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
