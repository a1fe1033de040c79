import { LruMap } from '../../base/lru-map.ts';
import { whole } from '../../base/shape.ts';
import type { Step } from '../step.ts';
import { defineDetector, MAX_COUNT, repeats, type DetectorFactory } from './define-detector.ts';
import { gradeCount, withEvidence } from './level.ts';

/** Options of `thrashDetector`. */
export interface ThrashOptions {
  /** Returns between two states of one file at which it warns; default 2. */
  readonly revertsWarnAt?: number;
  /** Whole rewrites of one file in a row at which it warns; default 10. */
  readonly rewritesWarnAt?: number;
}

/** Two states of a file, or two texts that replaced each other. */
interface Pair {
  readonly key: string;
  /** The state in which the file was left. */
  readonly last: string;
  readonly returns: number;
  /** A program ran well in one of the two states. */
  readonly passed: boolean;
  readonly evidence: readonly number[];
}

interface Entry {
  /** The last states, oldest first; at most 8. */
  readonly states: readonly string[];
  /** The last pairs, oldest first; at most 16. */
  readonly pairs: readonly Pair[];
  readonly rewrites: number;
  readonly rewriteEvidence: readonly number[];
  /** Ordinal, programs that ran well, and messages of the user at the last write. */
  readonly ordinal: number;
  readonly passes: number;
  readonly userMessages: number;
}

interface State {
  readonly files: readonly (readonly [string, Entry])[];
  readonly passes: number;
}

const MAX_FILES = 64;
const MAX_STATES = 8;
const MAX_PAIRS = 16;
/** To remove a fix, test and restore it is method. */
const METHOD_PATIENCE = 2;

/**
 * A file that goes back and forth between two states: a write that restores an earlier content, or an edit that undoes an earlier
 * edit; or many whole rewrites in a row.
 *
 * Warns at:
 * - 2 returns between the same two states (`revertsWarnAt`).
 * - 4 returns if a program ran well in one of the states: to remove a fix, test and restore it is method.
 * - 10 whole rewrites of a file in a row (`rewritesWarnAt`).
 * - `same_failure_after_edits` reports this kind too: two failures of one check that alternate through six runs.
 *
 * Resets on:
 * - A message of the user.
 *
 * Ignores:
 * - Writes whose content is not in the arguments.
 */
export const thrashDetector: DetectorFactory<ThrashOptions> = defineDetector<ThrashOptions, State>(
  'thrash',
  { revertsWarnAt: whole(1, MAX_COUNT, 2), rewritesWarnAt: repeats(10) },
  ({ revertsWarnAt, rewritesWarnAt }, state = { files: [], passes: 0 }) => {
    const files = new LruMap<Entry>(MAX_FILES, state.files);
    let { passes } = state;
    return {
      observe(step, { ordinal, userMessages }) {
        const { target, leavesKey, tool, index } = step;
        if (step.failure !== undefined || step.resultMissing) return undefined;
        if (step.kind === 'execute' || step.editsAndRuns) passes += 1;
        if (target === undefined || step.kind !== 'write' || leavesKey === undefined) return undefined;
        const known = files.get(target);
        const before = known?.userMessages === userMessages ? known : undefined;
        const isRewrite = step.fromKey === undefined;
        const inRow = isRewrite && before?.ordinal === ordinal - 1 && before.states.at(-1) !== leavesKey;
        const states = before?.states ?? [];
        const rewrites = inRow ? before.rewrites + 1 : 1;
        const rewriteEvidence = withEvidence(inRow ? before.rewriteEvidence : [], index);
        const pairs = pairsAfter(before, step, leavesKey, passes);
        const newStates = isRewrite ? [...states.slice(1 - MAX_STATES), leavesKey] : states;
        files.set(target, { states: newStates, pairs, rewrites, rewriteEvidence, ordinal, passes, userMessages });
        // Only the last pair can have moved.
        const pair = pairs.at(-1);
        const returned = pair?.evidence.at(-1) === index ? pair : undefined;
        const byReturns =
          returned && gradeCount(returned.returns, revertsWarnAt + (returned.passed ? METHOD_PATIENCE : 0));
        const grade = byReturns ?? gradeCount(rewrites, rewritesWarnAt);
        if (grade === undefined) return undefined;
        const [occurrences, evidence] =
          returned === undefined || byReturns === undefined
            ? [rewrites, rewriteEvidence]
            : [returned.returns, returned.evidence];
        return [{ kind: 'thrash', key: target, stuck: true, ...grade, occurrences, tool, evidence }];
      },
      snapshot: () => ({ files: files.entries(), passes }),
    };
  },
);

/** The pairs with the one of this write at the end. */
function pairsAfter(
  before: Entry | undefined,
  { fromKey, index }: Step,
  leaves: string,
  passes: number,
): readonly Pair[] {
  const pairs = before?.pairs ?? [];
  const from = fromKey ?? before?.states.at(-1);
  if (from === undefined || from === leaves) return pairs;
  const key = from < leaves ? `${from}:${leaves}` : `${leaves}:${from}`;
  const known = pairs.find((pair) => pair.key === key);
  const isKnownState = fromKey !== undefined || before?.states.includes(leaves) === true;
  const returns = known !== undefined && known.last !== leaves && isKnownState;
  const pair: Pair = {
    key,
    last: leaves,
    returns: (known?.returns ?? 0) + (returns ? 1 : 0),
    passed: known?.passed === true || (before !== undefined && passes > before.passes),
    evidence: returns ? withEvidence(known.evidence, index) : (known?.evidence ?? []),
  };
  return [...pairs.filter((one) => one.key !== key).slice(1 - MAX_PAIRS), pair];
}
