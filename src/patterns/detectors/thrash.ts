import type { Json } from '../../base/json.ts';
import { LruMap } from '../../base/lru-map.ts';
import type { PatternDetector } from '../pattern-detector.ts';
import type { Step } from '../step.ts';
import { gradeCount, withEvidence } from './level.ts';
import { whole } from '../../base/shape.ts';
import { defineDetector, MAX_COUNT, repeats, type DetectorDefinition } from './define-detector.ts';

/** Options of `thrashDetector`. */
export interface ThrashOptions {
  /** Returns of one file to an earlier state at which it warns; default 2. */
  readonly revertsWarnAt?: number;
  /** Whole rewrites of one file in a row, nothing else between, at which it warns; default 10. */
  readonly rewritesWarnAt?: number;
}

interface Entry {
  /** States the target was left in, oldest first; 8 at most. */
  readonly states: readonly string[];
  /** Replacements made, as `from>to`; 16 at most. */
  readonly edits: readonly string[];
  readonly reverts: number;
  readonly rewrites: number;
  readonly ordinal: number;
  /** Messages of the user when it was last written. */
  readonly userMessages: number;
  readonly evidence: readonly number[];
  readonly rewriteEvidence: readonly number[];
  /** Length of the last state. */
  readonly chars: number;
}

/** What is sent to an address adds to what is there. */
const ADDRESS = /^[a-z]+:\/\//i;

const EMPTY: Entry = {
  states: [],
  edits: [],
  reverts: 0,
  rewrites: 0,
  ordinal: -1,
  userMessages: 0,
  evidence: [],
  rewriteEvidence: [],
  chars: 0,
};

/**
 * A file that goes back and forth: a write that brings back an earlier content, an edit that undoes an earlier edit,
 * twice; or ten whole rewrites in a row with nothing read, run or finished between. So does a setting, a place in a
 * file, or a definition in a database. A message of the user begins anew.
 */
export function thrashDetector(options: ThrashOptions = {}): PatternDetector {
  const { revertsWarnAt = 2, rewritesWarnAt = 10 } = options;
  return {
    name: 'thrash',
    start(snapshot?: Json) {
      // A snapshot given to a detector is its own: the analysis keeps them by name.
      const kept = (snapshot ?? []) as unknown as readonly [string, Partial<Entry>][];
      const files = new LruMap<Entry>(
        64,
        kept.map(([file, entry]) => [file, Object.assign({}, EMPTY, entry)]),
      );
      return {
        observe(step, context) {
          if (step.failure !== undefined || step.resultMissing || step.target === undefined) return undefined;
          if (step.kind !== 'write' || step.leavesKey === undefined) return undefined;
          const before = files.get(step.target);
          // The user may have changed their mind: going back is then no thrash.
          const known = before?.userMessages === context.userMessages ? before : undefined;
          const entry = next(
            known ?? { ...EMPTY, userMessages: context.userMessages },
            step,
            step.leavesKey,
            context.ordinal,
          );
          files.set(step.target, entry);
          const byReverts = gradeCount(entry.reverts, revertsWarnAt);
          const grade = byReverts ?? gradeCount(entry.rewrites, rewritesWarnAt);
          if (grade === undefined) return undefined;
          return [
            {
              kind: 'thrash',
              key: step.target,
              stuck: true,
              ...grade,
              occurrences: byReverts === undefined ? entry.rewrites : entry.reverts,
              tool: step.tool,
              evidence: byReverts === undefined ? entry.rewriteEvidence : entry.evidence,
            },
          ];
        },
        snapshot: () => files.entries().map(([file, entry]) => [file, withoutEmpty(entry)]),
      };
    },
  };
}

/** What differs from `EMPTY`: most files were written once, and a snapshot stays small. */
function withoutEmpty(entry: Entry): Json {
  const told = Object.entries(entry).filter(([, value]) => !Array.isArray(value) || value.length > 0);
  return Object.fromEntries(told);
}

function next(before: Entry, step: Step, leaves: string, ordinal: number): Entry {
  const edit = step.fromKey === undefined ? undefined : `${step.fromKey}>${leaves}`;
  const undone = step.fromKey === undefined ? -1 : before.edits.indexOf(`${leaves}>${step.fromKey}`);
  const cameBack = edit === undefined && before.states.at(-1) !== leaves && before.states.includes(leaves);
  const reverted = undone >= 0 || cameBack;
  // What only grows is being written.
  const grows = (step.leavesChars ?? 0) > before.chars;
  const inRow =
    edit === undefined &&
    !grows &&
    !ADDRESS.test(step.target ?? '') &&
    before.ordinal === ordinal - 1 &&
    before.states.at(-1) !== leaves;
  return {
    states: edit === undefined ? [...before.states.slice(-7), leaves] : before.states,
    edits: edit === undefined ? before.edits : [...before.edits.slice(-15), edit],
    reverts: before.reverts + (reverted ? 1 : 0),
    rewrites: inRow ? before.rewrites + 1 : 1,
    ordinal,
    userMessages: before.userMessages,
    evidence: reverted ? withEvidence(before.evidence, step.index) : before.evidence,
    rewriteEvidence: withEvidence(inRow ? before.rewriteEvidence : [], step.index),
    chars: step.leavesChars ?? before.chars,
  };
}

export const thrash: DetectorDefinition<ThrashOptions> = defineDetector<ThrashOptions>(
  {
    revertsWarnAt: whole(1, MAX_COUNT, 2),
    rewritesWarnAt: repeats(10),
  },
  thrashDetector,
);
