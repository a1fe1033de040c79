import type { Json } from '../../base/json.ts';
import { LruMap } from '../../base/lru-map.ts';
import type { PatternDetector, Sighting, StepContext } from '../pattern-detector.ts';
import type { Step } from '../step.ts';
import { gradeCount, overSighting, withEvidence } from './level.ts';
import { above0 } from '../../base/shape.ts';
import { defineDetector, repeats, type DetectorDefinition } from './define-detector.ts';

/** Options of `pollingDetector`. */
export interface PollingOptions {
  /** Unchanged answers at which it warns; default 10. */
  readonly warnAt?: number;
  /** Time without a change after which fewer answers are enough, if less than five minutes lie between; default 30 minutes. */
  readonly maxUnchangedMs?: number;
}

interface Entry {
  readonly resultKey: string;
  readonly count: number;
  readonly work: number;
  readonly userMessages: number;
  readonly firstAtMs: number;
  readonly evidence: readonly number[];
}

interface State {
  readonly entries: readonly (readonly [string, Entry])[];
  readonly work: number;
}

const MIN_TIMED_POLLS = 5;
/** Who looks so seldom has settled down to wait. */
const PATIENT_PACE_MS = 5 * 60_000;
/** Who lets so much time pass between two looks waits, and does not hammer. */
const WAITING_PACE_MS = 20_000;
const DEFAULT_UNCHANGED_MS = 30 * 60_000;

/**
 * Asking for a status that never changes. Waiting is right, so it takes ten unchanged answers (or fewer over half an
 * hour, where less than five minutes lie between); any change of the answer, real work done in between, or a message of the user,
 * begins anew. Command lines that ask one program are one status where their last lines are equal, until one of them moves.
 *
 * Warns at:
 * - 10 unchanged answers (`warnAt`).
 * - 5 unchanged answers over half an hour (`maxUnchangedMs`), where less than five minutes lie between.
 *
 * Begins anew at:
 * - A change of the answer.
 * - More than one new step between two polls.
 * - A message of the user.
 */
export function pollingDetector(options: PollingOptions = {}): PatternDetector {
  const { warnAt = 10, maxUnchangedMs = DEFAULT_UNCHANGED_MS } = options;
  return {
    name: 'polling_no_progress',
    start(snapshot?: Json) {
      // A snapshot given to a detector is its own: the analysis keeps them by name.
      const state = (snapshot as unknown as State | undefined) ?? { entries: [], work: 0 };
      const entries = new LruMap<Entry>(64, state.entries);
      let work = state.work;
      return {
        observe(step, context) {
          if (step.transparent || step.resultMissing) return undefined;
          if (step.kind !== 'poll') {
            if (context.novel) work += 1;
            return undefined;
          }
          const own = entries.get(step.argsKey);
          const entry = further(own, step.resultKey, step, { work, context });
          entries.set(step.argsKey, entry);
          if (own !== undefined && own.count >= MIN_TIMED_POLLS && entry.count === 1)
            return [overSighting('polling_no_progress', step.argsKey)];
          if (step.tailKey === undefined) return seen(entry, step.argsKey, step);
          // However the line is put that asks one program: its last line is the same.
          const key = `${step.tool}:${step.program}`;
          const moved = own !== undefined && own.resultKey !== step.resultKey;
          const byProgram = further(moved ? undefined : entries.get(key), step.tailKey, step, { work, context });
          entries.set(key, byProgram);
          return byProgram.count > entry.count ? seen(byProgram, key, step) : seen(entry, step.argsKey, step);
        },
        snapshot: () => ({ entries: entries.entries(), work }) as unknown as Json,
      };
      function seen(entry: Entry, key: string, step: Step): readonly Sighting[] | undefined {
        const unchangedMs = entry.firstAtMs > 0 ? step.atMs - entry.firstAtMs : 0;
        // A program that prints nothing for half a minute each time is at work: only the time counts then.
        const paced = step.empty && unchangedMs >= WAITING_PACE_MS * (entry.count - 1) && entry.firstAtMs > 0;
        if (paced && unchangedMs < maxUnchangedMs) return undefined;
        const hurried = unchangedMs < PATIENT_PACE_MS * (entry.count - 1);
        const needed = hurried && unchangedMs >= maxUnchangedMs ? Math.min(warnAt, MIN_TIMED_POLLS) : warnAt;
        const grade = gradeCount(entry.count, needed);
        if (grade === undefined) return undefined;
        return [
          {
            kind: 'polling_no_progress',
            key,
            stuck: true,
            ...grade,
            occurrences: entry.count,
            tool: step.tool,
            evidence: entry.evidence,
          },
        ];
      }
    },
  };
}

/** The row of equal answers with one more, or a new one. */
function further(
  before: Entry | undefined,
  resultKey: string,
  step: Step,
  { work, context }: { readonly work: number; readonly context: StepContext },
): Entry {
  const same =
    before !== undefined &&
    before.resultKey === resultKey &&
    work - before.work <= 1 &&
    before.userMessages === context.userMessages;
  return {
    resultKey,
    // A look that was no poll yet when it was new: only asking again after a pause made it one.
    count: same ? before.count + 1 : before === undefined && !context.novel ? 2 : 1,
    work,
    userMessages: context.userMessages,
    firstAtMs: same ? before.firstAtMs : step.atMs,
    evidence: withEvidence(same ? before.evidence : [], step.index),
  };
}

export const polling: DetectorDefinition<PollingOptions> = defineDetector<PollingOptions>(
  {
    warnAt: repeats(10),
    maxUnchangedMs: above0(86_400_000, 1_800_000),
  },
  pollingDetector,
);
