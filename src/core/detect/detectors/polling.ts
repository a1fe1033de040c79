import { LruMap } from '../../base/lru-map.ts';
import { above0 } from '../../base/shape.ts';
import { defineDetector, countShape, type DetectorFactory } from './define-detector.ts';
import { appendEvidence, endSighting, reportCount } from './level.ts';

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
  /** New steps that were no polls. */
  readonly work: number;
}

const MIN_TIMED_POLLS = 5;
/** An agent that asks less often has decided to wait. */
const PATIENT_PACE_MS = 5 * 60_000;
/** Average time between two looks of an agent that waits rather than hammers. */
const SLOW_PACE_MS = 20_000;

/**
 * The agent polls a status that never changes. Waiting may be right, so the threshold is ten unchanged results, or five over half
 * an hour.
 *
 * Warns at:
 * - 10 unchanged results (`warnAt`).
 * - 5 unchanged results over half an hour (`maxUnchangedMs`), less than five minutes apart.
 *
 * Resets on:
 * - A change of the result.
 * - More than one new step between two polls.
 * - A message of the user.
 *
 * Ignores:
 * - Polls of a program that prints nothing, on average at least 20 seconds apart, during the first half hour.
 */
export const pollingDetector: DetectorFactory<'warnAt' | 'maxUnchangedMs'> = defineDetector(
  'polling_no_progress',
  { warnAt: countShape(10), maxUnchangedMs: above0(86_400_000, 1_800_000) },
  ({ warnAt, maxUnchangedMs }, state: State = { entries: [], work: 0 }) => {
    const entries = new LruMap<Entry>(64, state.entries);
    let { work } = state;
    return {
      observe(step, context) {
        if (step.transparent || step.resultMissing) return undefined;
        if (step.kind !== 'poll') {
          if (context.novel) work += 1;
          return undefined;
        }
        const { argsKey: key, tool, resultKey } = step;
        const { userMessages } = context;
        const previous = entries.get(key);
        const isUnchanged =
          previous !== undefined &&
          previous.resultKey === resultKey &&
          work - previous.work <= 1 &&
          previous.userMessages === userMessages;
        // The first call was no poll yet if only the pause before this one makes it a poll.
        const count = isUnchanged ? previous.count + 1 : previous === undefined && !context.novel ? 2 : 1;
        const firstAtMs = isUnchanged ? previous.firstAtMs : step.atMs;
        const evidence = appendEvidence(isUnchanged ? previous.evidence : [], step.index);
        entries.set(key, { resultKey, count, work, userMessages, firstAtMs, evidence });
        if (!isUnchanged && previous !== undefined && previous.count >= MIN_TIMED_POLLS)
          return [endSighting('polling_no_progress', key)];
        const unchangedMs = firstAtMs > 0 ? step.atMs - firstAtMs : 0;
        // A program that prints nothing for long is at work: only the time counts.
        const isSlow = step.empty && firstAtMs > 0 && unchangedMs >= SLOW_PACE_MS * (count - 1);
        if (isSlow && unchangedMs < maxUnchangedMs) return undefined;
        const isLate = unchangedMs >= maxUnchangedMs && unchangedMs < PATIENT_PACE_MS * (count - 1);
        const pattern = { kind: 'polling_no_progress', key, tool, evidence };
        return reportCount(pattern, count, isLate ? Math.min(warnAt, MIN_TIMED_POLLS) : warnAt);
      },
      snapshot: () => ({ entries: entries.entries(), work }),
    };
  },
);
