import { LruMap } from '../../base/lru-map.ts';
import { whole } from '../../base/shape.ts';
import type { Sighting, StepContext } from '../patterns/pattern-detector.ts';
import type { Step } from '../patterns/step.ts';
import { defineDetector, MAX_COUNT, type DetectorFactory } from './define-detector.ts';
import { gradeCount, endSighting, moreConfident, appendEvidence } from './level.ts';

interface Entry {
  readonly failureKey: string;
  readonly epoch: number;
  readonly changes: number;
  readonly evidence: readonly number[];
  /** Different failures, the last one at the end; at most 12. */
  readonly seen: readonly string[];
  /** Calls at which an earlier failure was back after another one. */
  readonly comebacks: readonly number[];
}

type State = readonly (readonly [string, Entry])[];

/** As in three rounds of two failures that alternate. */
const COMEBACKS = 4;
const MAX_SEEN = 12;

/**
 * A check fails in the same way after each edit. Running a check again after an edit is normal, but four edits without any change of
 * the message are not. Also detects failures of one check that come back after others (`thrash`): each fix breaks what the
 * last one fixed.
 *
 * Warns at:
 * - 4 changes (`warnAt`), each followed by the same failure of one check.
 * - A check is a call with equal arguments and the same message, line numbers aside; or a program with any arguments, with the
 *   same error line. Command lines that edit a file and then run a program count together.
 * - 4 runs in which an earlier failure of one check is back after another one: the kind is then `thrash`, always at `warn`, with confidence 0.75.
 *
 * Resets on:
 * - A success of that check.
 */
export const sameFailureDetector: DetectorFactory<'warnAt'> = defineDetector(
  'same_failure_after_edits',
  { warnAt: whole(1, MAX_COUNT, 4) },
  ({ warnAt }, state: State = []) => {
    const checks = new LruMap<Entry>(64, state);
    const addFailure = (
      key: string,
      failureKey: string,
      { index, tool }: Step,
      { epoch }: StepContext,
    ): Sighting | undefined => {
      const previous = checks.get(key);
      if (previous?.epoch === epoch) return undefined;
      const isSame = previous?.failureKey === failureKey;
      const seen = previous?.seen ?? [];
      const isBack = !isSame && seen.includes(failureKey);
      // Two failures come and go while an input is made smaller.
      const earlier = isSame && seen.length === 2 ? [] : (previous?.comebacks ?? []);
      const entry: Entry = {
        failureKey,
        epoch,
        changes: isSame ? previous.changes + 1 : 0,
        evidence: appendEvidence(isSame ? previous.evidence : [], index),
        seen: [...seen.filter((other) => other !== failureKey).slice(1 - MAX_SEEN), failureKey],
        comebacks: isBack ? appendEvidence(earlier, index) : earlier,
      };
      checks.set(key, entry);
      const { changes, evidence, comebacks } = entry;
      const pattern = { key, stuck: true, tool };
      if (isBack && comebacks.length >= COMEBACKS) {
        const [level, confidence, occurrences] = ['warn', 0.75, comebacks.length] as const;
        return { ...pattern, kind: 'thrash', level, confidence, occurrences, evidence: comebacks };
      }
      const grade = gradeCount(changes, warnAt);
      return grade && { ...pattern, kind: 'same_failure_after_edits', ...grade, occurrences: changes + 1, evidence };
    };
    return {
      observe(step, context) {
        if (step.resultMissing) return undefined;
        // A line that edits and then runs differs each time.
        const ownKey = step.editsAndRuns ? `edited:${step.tool}` : step.argsKey;
        const programKey = `line:${step.tool}:${step.program}`;
        const { failure } = step;
        if (failure === undefined) {
          const passedChecks = step.kind === 'execute' ? [ownKey, programKey] : [ownKey];
          return passedChecks
            .filter((check) => checks.delete(check))
            .map((check) => endSighting('same_failure_after_edits', check));
        }
        if (failure.category === 'silent') return undefined;
        const previous = checks.get(ownKey);
        const hasMoved = previous !== undefined && previous.failureKey !== failure.messageKey;
        if (hasMoved) checks.delete(programKey);
        const ownSighting = addFailure(ownKey, failure.messageKey, step, context);
        const programSighting =
          step.kind === 'execute' ? addFailure(programKey, failure.lineKey, step, context) : undefined;
        const sighting = moreConfident(ownSighting, programSighting);
        return sighting && [sighting];
      },
      snapshot: () => checks.entries(),
    };
  },
);
