import type { Json } from '../../base/json.ts';
import { LruMap } from '../../base/lru-map.ts';
import type { PatternDetector } from '../pattern-detector.ts';
import type { Step } from '../step.ts';
import { gradeCount, withEvidence } from './level.ts';
import { whole } from '../../base/shape.ts';
import { defineDetector, MAX_COUNT, repeats, type DetectorDefinition } from './define-detector.ts';

/** Options of `thrashDetector`. */
export interface ThrashOptions {
  /** Returns between two states of one target at which it warns; default 2. */
  readonly revertsWarnAt?: number;
  /** Whole rewrites of one file in a row, nothing else between, at which it warns; default 10. */
  readonly rewritesWarnAt?: number;
}

/** Two states of a target, or two texts that were put in each other's place. */
interface Pair {
  readonly key: string;
  /** The state it was last left in. */
  readonly last: string;
  /** How often it went back to the one it had left. */
  readonly returns: number;
  /** A program ran well in one of the two states. */
  readonly passed: boolean;
  readonly evidence: readonly number[];
}

interface Entry {
  /** States the target was left in, oldest first; 8 at most. */
  readonly states: readonly string[];
  /** Pairs it has been in, oldest first; 16 at most. */
  readonly pairs: readonly Pair[];
  readonly rewrites: number;
  readonly ordinal: number;
  /** Programs that had run well when it was last written. */
  readonly passes: number;
  /** Messages of the user when it was last written. */
  readonly userMessages: number;
  readonly rewriteEvidence: readonly number[];
  /** Length of the last state. */
  readonly chars: number;
}

interface State {
  readonly files: readonly (readonly [string, Partial<Entry>])[];
  readonly passes: number;
}

/** What is sent to an address adds to what is there. */
const ADDRESS = /^[a-z]+:\/\//i;

const EMPTY: Entry = {
  states: [],
  pairs: [],
  rewrites: 0,
  ordinal: -1,
  passes: 0,
  userMessages: 0,
  rewriteEvidence: [],
  chars: 0,
};
const MAX_PAIRS = 16;
/** To take a fix out, test without it and put it back is method: so much more patience where a test passes in one of the states. */
const METHOD_PATIENCE = 2;

/**
 * A file that goes back and forth between two states: a write that brings back an earlier content, an edit that undoes an earlier
 * edit, twice for one pair of states, or four times where a program ran well in one of them (a baseline that is measured, a fix that
 * is proved by taking it out); or ten whole rewrites in a row with nothing read, run or finished between. So does a setting, a
 * place in a file, or a definition in a database. A message of the user begins anew.
 *
 * Warns at:
 * - 2 returns between the same two states (`revertsWarnAt`) of a file, a place in it, a range of a sheet, a setting, an object
 *   or a definition in a database.
 * - 4 returns where a program ran well in one of the states: taking a fix out, testing and putting it back is method.
 * - 10 whole rewrites of a file in a row (`rewritesWarnAt`), not of what is sent to an address.
 * - `same_failure_after_edits` reports this kind too: two failures of one check that alternate through six runs.
 *
 * Begins anew at:
 * - A message of the user.
 *
 * Does not count:
 * - Writes whose content is not in the arguments.
 */
export function thrashDetector(options: ThrashOptions = {}): PatternDetector {
  const { revertsWarnAt = 2, rewritesWarnAt = 10 } = options;
  return {
    name: 'thrash',
    start(snapshot?: Json) {
      // A snapshot given to a detector is its own: the analysis keeps them by name.
      const kept = (snapshot ?? { files: [], passes: 0 }) as unknown as State;
      const files = new LruMap<Entry>(
        64,
        kept.files.map(([file, entry]) => [file, Object.assign({}, EMPTY, entry)]),
      );
      let { passes } = kept;
      return {
        observe(step, context) {
          if (step.failure !== undefined || step.resultMissing) return undefined;
          if (step.kind === 'execute' || step.editsAndRuns) passes += 1;
          if (step.target === undefined || step.kind !== 'write' || step.leavesKey === undefined) return undefined;
          const before = files.get(step.target);
          // The user may have changed their mind: going back is then no thrash.
          const known = before?.userMessages === context.userMessages ? before : undefined;
          const entry = next(known ?? { ...EMPTY, passes, userMessages: context.userMessages }, step, step.leavesKey, {
            ordinal: context.ordinal,
            passes,
          });
          files.set(step.target, entry);
          // Only the pair that this write belongs to has moved, and it stands last.
          const pair = entry.pairs.at(-1);
          const needed = revertsWarnAt + (pair?.passed === true ? METHOD_PATIENCE : 0);
          const byReturns = pair?.evidence.at(-1) === step.index ? gradeCount(pair.returns, needed) : undefined;
          const grade = byReturns ?? gradeCount(entry.rewrites, rewritesWarnAt);
          if (grade === undefined) return undefined;
          return [
            {
              kind: 'thrash',
              key: step.target,
              stuck: true,
              ...grade,
              occurrences: byReturns === undefined ? entry.rewrites : (pair?.returns ?? 0),
              tool: step.tool,
              evidence: byReturns === undefined ? entry.rewriteEvidence : (pair?.evidence ?? []),
            },
          ];
        },
        snapshot: () => ({ files: files.entries().map(([file, entry]) => [file, withoutEmpty(entry)]), passes }),
      };
    },
  };
}

/** What differs from `EMPTY`: most files were written once, and a snapshot stays small. */
function withoutEmpty(entry: Entry): Json {
  const told = Object.entries(entry).filter(([, value]) => !Array.isArray(value) || value.length > 0);
  return Object.fromEntries(told);
}

function next(
  before: Entry,
  step: Step,
  leaves: string,
  { ordinal, passes }: { readonly ordinal: number; readonly passes: number },
): Entry {
  const isEdit = step.fromKey !== undefined;
  const from = step.fromKey ?? before.states.at(-1);
  const passed = passes > before.passes;
  // What only grows is being written.
  const grows = (step.leavesChars ?? 0) > before.chars;
  const inRow =
    !isEdit &&
    !grows &&
    !ADDRESS.test(step.target ?? '') &&
    before.ordinal === ordinal - 1 &&
    before.states.at(-1) !== leaves;
  // A whole content that was never there before goes back to nothing.
  const isNew = !isEdit && !before.states.includes(leaves);
  return {
    states: isEdit ? before.states : [...before.states.slice(-7), leaves],
    pairs:
      from === undefined || from === leaves
        ? before.pairs
        : pairsAfter(before.pairs, { from, leaves, passed, isNew }, step),
    rewrites: inRow ? before.rewrites + 1 : 1,
    ordinal,
    passes,
    userMessages: before.userMessages,
    rewriteEvidence: withEvidence(inRow ? before.rewriteEvidence : [], step.index),
    chars: step.leavesChars ?? before.chars,
  };
}

/** The pairs with the one that a write belongs to at the end: it began, or went back, or the same edit was made once more. */
function pairsAfter(
  pairs: readonly Pair[],
  { from, leaves, passed, isNew }: { from: string; leaves: string; passed: boolean; isNew: boolean },
  { index }: Step,
): readonly Pair[] {
  const key = from < leaves ? `${from}:${leaves}` : `${leaves}:${from}`;
  const known = pairs.find((pair) => pair.key === key);
  const others = pairs.filter((pair) => pair.key !== key).slice(1 - MAX_PAIRS);
  const returns = known !== undefined && known.last !== leaves && !isNew;
  const pair: Pair = {
    key,
    last: leaves,
    returns: (known?.returns ?? 0) + (returns ? 1 : 0),
    passed: passed || known?.passed === true,
    evidence: returns ? withEvidence(known.evidence, index) : (known?.evidence ?? []),
  };
  return [...others, pair];
}

export const thrash: DetectorDefinition<ThrashOptions> = defineDetector<ThrashOptions>(
  {
    revertsWarnAt: whole(1, MAX_COUNT, 2),
    rewritesWarnAt: repeats(10),
  },
  thrashDetector,
);
