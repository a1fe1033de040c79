import { LruMap } from '../../base/lru-map.ts';
import { whole } from '../../base/shape.ts';
import type { Step } from '../patterns/step.ts';
import { defineDetector, MAX_COUNT, countShape, type DetectorFactory } from './define-detector.ts';
import { appendEvidence, reportCount } from './level.ts';

/** Two states of a file, or two texts that replaced each other. */
interface Pair {
  readonly key: string;
  readonly last: string;
  readonly returns: number;
  /** A program ran well in one of the two states. */
  readonly passed: boolean;
  readonly evidence: readonly number[];
}

interface Entry {
  readonly states: readonly string[];
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
 * A file changes back and forth between two states, or is written as a whole many times in a row (`rewrites`).
 *
 * Warns at:
 * - 2 returns between the same two states (`revertsWarnAt`): a write restores earlier content, or an edit undoes an earlier one.
 * - 4 returns if a program succeeded in one of the states: the agent may remove a fix on purpose, test, and restore it.
 * - 6 complete rewrites of a file in a row, each with new content (`rewritesWarnAt`): kind `rewrites`.
 * - `same_failure_after_edits` also reports this kind: two failures of one check that alternate through six runs.
 *
 * Resets on:
 * - A message of the user.
 *
 * Ignores:
 * - Writes whose content is not in the arguments.
 */
export const thrashDetector: DetectorFactory<'revertsWarnAt' | 'rewritesWarnAt'> = defineDetector(
  'thrash',
  { revertsWarnAt: whole(1, MAX_COUNT, 2), rewritesWarnAt: countShape(6) },
  ({ revertsWarnAt, rewritesWarnAt }, state: State = { files: [], passes: 0 }) => {
    const files = new LruMap<Entry>(MAX_FILES, state.files);
    let { passes } = state;
    return {
      observe(step, { ordinal, userMessages }) {
        const { target, leavesKey, tool, index } = step;
        if (step.failure !== undefined || step.resultMissing) return undefined;
        if (step.kind === 'execute' || step.editsAndRuns) passes += 1;
        if (target === undefined || step.kind !== 'write' || leavesKey === undefined) return undefined;
        const entry = files.get(target);
        const previous = entry?.userMessages === userMessages ? entry : undefined;
        const isRewrite = step.fromKey === undefined;
        const isConsecutive = isRewrite && previous?.ordinal === ordinal - 1;
        const states = previous?.states ?? [];
        const rewrites = isConsecutive ? previous.rewrites + (previous.states.at(-1) === leavesKey ? 0 : 1) : 1;
        const rewriteEvidence = appendEvidence(isConsecutive ? previous.rewriteEvidence : [], index);
        const pairs = updatePairs(previous, step, leavesKey, passes);
        const newStates = isRewrite ? [...states.slice(1 - MAX_STATES), leavesKey] : states;
        files.set(target, { states: newStates, pairs, rewrites, rewriteEvidence, ordinal, passes, userMessages });
        // Only the last pair can have moved.
        const pair = pairs.at(-1);
        const returnedPair = pair?.evidence.at(-1) === index ? pair : undefined;
        const pattern = { kind: 'thrash', key: target, tool };
        const returnsWarnAt = revertsWarnAt + (pair?.passed === true ? METHOD_PATIENCE : 0);
        const report =
          returnedPair &&
          reportCount({ ...pattern, evidence: returnedPair.evidence }, returnedPair.returns, returnsWarnAt);
        return (
          report ?? reportCount({ ...pattern, kind: 'rewrites', evidence: rewriteEvidence }, rewrites, rewritesWarnAt)
        );
      },
      snapshot: () => ({ files: files.entries(), passes }),
    };
  },
);

function updatePairs(
  previous: Entry | undefined,
  { fromKey, index }: Step,
  leftKey: string,
  passes: number,
): readonly Pair[] {
  const pairs = previous?.pairs ?? [];
  const previousKey = fromKey ?? previous?.states.at(-1);
  if (previousKey === undefined || previousKey === leftKey) return pairs;
  const key = previousKey < leftKey ? `${previousKey}:${leftKey}` : `${leftKey}:${previousKey}`;
  const knownPair = pairs.find((pair) => pair.key === key);
  const isKnownState = fromKey !== undefined || previous?.states.includes(leftKey) === true;
  const isReturn = knownPair !== undefined && knownPair.last !== leftKey && isKnownState;
  const pair: Pair = {
    key,
    last: leftKey,
    returns: (knownPair?.returns ?? 0) + (isReturn ? 1 : 0),
    passed: knownPair?.passed === true || (previous !== undefined && passes > previous.passes),
    evidence: isReturn ? appendEvidence(knownPair.evidence, index) : (knownPair?.evidence ?? []),
  };
  return [...pairs.filter((other) => other.key !== key).slice(1 - MAX_PAIRS), pair];
}
