import type { Json } from '../../base/json.ts';
import { LruMap } from '../../base/lru-map.ts';
import type { PatternDetector, Sighting, StepContext } from '../pattern-detector.ts';
import type { Step } from '../step.ts';
import { gradeCount, overSighting, surer, withEvidence } from './level.ts';
import { whole } from '../../base/shape.ts';
import { defineDetector, MAX_COUNT, type DetectorDefinition } from './define-detector.ts';

/** Options of `sameFailureDetector`. */
export interface SameFailureOptions {
  /** Changes of the world after which one check still fails with the same words, at which it warns; default 4. */
  readonly warnAt?: number;
}

interface Entry {
  readonly failureKey: string;
  readonly epoch: number;
  readonly ordinal: number;
  readonly changes: number;
  readonly evidence: readonly number[];
  /** The last failures' keys, newest last; 6 at most. */
  readonly history: readonly string[];
  readonly historyEvidence: readonly number[];
}

/** What is run again and again, and how its failures are told apart. */
interface Check {
  readonly key: string;
  readonly failureKey: string;
  /** Calls after which a failure is a new story. */
  readonly maxBetween: number;
  /** Two failures in turn are thrash. */
  readonly mayAlternate: boolean;
}

/** Six alternating failures are three rounds of mending one thing and breaking another. */
const OSCILLATION = 6;

/** An answer of which more is new tells something else, whatever its line says. */
const MAX_FRESH = 0.34;

/** Calls without a time-out after which the next one is a new story. */
const MAX_BETWEEN_TIMEOUTS = 12;

/**
 * Edit, run, the same failure; edit, run, the same failure. Each change makes a repeat legitimate, four of them
 * without any movement of the message do not. Also two failures of one check that alternate through six runs
 * (`thrash`): each fix breaks what the last one mended. A check is one call, or a program that tells of as many failures by
 * the same line, however it is called. A check that passes begins anew. A time limit is one cause,
 * whatever job runs into it, until a job of that tool gets through.
 *
 * Warns at:
 * - 4 changes (`warnAt`) after which one check fails alike.
 * - A check is a call with equal arguments (also a change that is refused) and the same message, line numbers aside; or a
 *   program, however it is called, with the same line and as many failures counted. Lines that edit and then run count
 *   together.
 * - 6 runs for two failures of one check that alternate: the kind is then `thrash`, always at `warn`, with confidence 0.75.
 *
 * Begins anew at:
 * - A success of that check.
 * - For a program called in several ways: an answer of which more than a third of the lines is new.
 *
 * Does not count:
 * - Further time-outs of other jobs: a time-out is one cause whatever job meets it, until a job of that tool succeeds, or 12
 *   steps pass without one.
 */
export function sameFailureDetector(options: SameFailureOptions = {}): PatternDetector {
  const { warnAt = 4 } = options;
  return {
    name: 'same_failure_after_edits',
    start(snapshot?: Json) {
      // A snapshot given to a detector is its own: the analysis keeps them by name.
      const checks = new LruMap<Entry>(64, (snapshot ?? []) as unknown as [string, Entry][]);
      /** Takes a failure of a check. @returns what the row of its failures shows now */
      const fail = (check: Check, step: Step, { epoch, ordinal }: StepContext): Sighting | undefined => {
        const known = checks.get(check.key);
        const before = known !== undefined && ordinal - known.ordinal > check.maxBetween ? undefined : known;
        if (before?.epoch === epoch) return undefined;
        const { failureKey } = check;
        const same = before !== undefined && before.failureKey === failureKey;
        const entry: Entry = {
          failureKey,
          epoch,
          ordinal,
          changes: same ? before.changes + 1 : 0,
          evidence: withEvidence(same ? before.evidence : [], step.index),
          history: [...(before?.history ?? []).slice(1 - OSCILLATION), failureKey],
          historyEvidence: [...(before?.historyEvidence ?? []).slice(1 - OSCILLATION), step.index],
        };
        checks.set(check.key, entry);
        const shared = { key: check.key, stuck: true, tool: step.tool } as const;
        if (check.mayAlternate && alternates(entry.history)) {
          const evidence = entry.historyEvidence;
          return { ...shared, kind: 'thrash', level: 'warn', confidence: 0.75, occurrences: OSCILLATION / 2, evidence };
        }
        const grade = gradeCount(entry.changes, warnAt);
        if (grade === undefined) return undefined;
        const { changes, evidence } = entry;
        return { ...shared, kind: 'same_failure_after_edits', ...grade, occurrences: changes + 1, evidence };
      };
      return {
        observe(step, context) {
          if (step.resultMissing) return undefined;
          // A line that edits and then runs is another one each time.
          const own = step.editsAndRuns ? `edited:${step.tool}` : step.argsKey;
          const { failure } = step;
          if (failure === undefined) {
            const passed = step.kind === 'execute' ? [own, limitOf(step), programOf(step)] : [own];
            const known = passed.filter((check) => checks.delete(check));
            return known.map((check) => overSighting('same_failure_after_edits', check));
          }
          if (failure.category === 'silent') return undefined;
          if (failure.category === 'timeout') {
            const maxBetween = MAX_BETWEEN_TIMEOUTS;
            const check = { key: limitOf(step), failureKey: 'timeout', maxBetween, mayAlternate: true };
            return listOf(fail(check, step, context));
          }
          const byProgram = programOf(step);
          const before = checks.get(own);
          // The very same call fails in other words: something moves, though its line is the same.
          const moves =
            context.freshLines > MAX_FRESH || (before !== undefined && before.failureKey !== failure.placelessKey);
          if (moves) checks.delete(byProgram);
          const seen = fail(
            { key: own, failureKey: failure.placelessKey, maxBetween: Infinity, mayAlternate: true },
            step,
            context,
          );
          if (step.kind !== 'execute') return listOf(seen);
          // However the program is called, and whatever else it prints: the same line, and as many failures.
          const seenByLine = fail(
            { key: byProgram, failureKey: failure.lineKey, maxBetween: Infinity, mayAlternate: false },
            step,
            context,
          );
          return listOf(surer(seen, seenByLine));
        },
        snapshot: () => checks.entries() as unknown as Json,
      };
    },
  };
}

/** The check of all jobs that meet a time limit. */
function limitOf({ tool }: Step): string {
  return `timeout:${tool}`;
}

/** The check of a program, however it is called. */
function programOf({ tool, program }: Step): string {
  return `line:${tool}:${program}`;
}

function listOf(sighting: Sighting | undefined): readonly Sighting[] | undefined {
  return sighting === undefined ? undefined : [sighting];
}

function alternates(history: readonly string[]): boolean {
  if (history.length < OSCILLATION || history[0] === history[1]) return false;
  return history.every((key, at) => at < 2 || key === history[at - 2]);
}

export const sameFailure: DetectorDefinition<SameFailureOptions> = defineDetector<SameFailureOptions>(
  { warnAt: whole(1, MAX_COUNT, 4) },
  sameFailureDetector,
);
