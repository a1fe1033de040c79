import { LruMap } from '../../base/lru-map.ts';
import { whole } from '../../base/shape.ts';
import { OUTSIDE_CAUSES, WAITABLE_CAUSES } from '../calls/error-class.ts';
import type { Sighting, StepContext } from '../patterns/pattern-detector.ts';
import type { Step } from '../patterns/step.ts';
import { defineDetector, MAX_COUNT, countShape, type DetectorFactory } from './define-detector.ts';
import { gradeCount, endSighting, moreConfident, appendEvidence } from './level.ts';

/** Failures that share a key: the same text, message or cause. */
interface Row {
  readonly count: number;
  readonly program: string;
  /** They share a kind of failure only. */
  readonly loose: boolean;
  readonly sameArgs: boolean;
  /** Arguments and message of the last one. */
  readonly lastArgsKey: string;
  readonly lastMessageKey: string;
  readonly ordinal: number;
  readonly epoch: number;
  readonly userMessages: number;
  readonly turn: number;
  readonly atMs: number;
  readonly gapMs: number;
  /** Pauses that were clearly longer than the one before. */
  readonly backoffs: number;
  readonly evidence: readonly number[];
}

interface State {
  readonly rows: readonly (readonly [string, Row])[];
  /** Something was changed since the last failure, even if to the same state as before. */
  readonly changed: boolean;
}

/** Far more than `maxBetween`; it bounds the snapshot. */
const MAX_ROWS = 64;
/** A pause this much longer than the one before counts as backing off. */
const BACKOFF_FACTOR = 1.5;
const MIN_BACKOFF_MS = 1_000;

/**
 * Calls of one tool fail with the same error within an epoch. Errors are grouped by text, by message and by cause.
 * Failures of one turn count once.
 *
 * Warns at:
 * - 3 failures with the same text (`exactWarnAt`); or three times in a row the same call with the same error lines, no cause for which waiting
 *   is right.
 * - 4 failures with the same error lines, or with one cause that other arguments do not fix (`causeWarnAt`).
 * - 5 failures of one kind, each naming a different thing (`groupWarnAt`).
 * - At most 4 other calls occur between two failures (`maxBetween`); twice as many for a wrong use of a program, which no change cures.
 * - One more for unflagged failures, usage texts that name no option, timeouts and "not found", if the arguments change.
 * - One more for each pause that is clearly longer than the pause before, for rate limits, timeouts and network errors.
 *
 * Resets on:
 * - A new epoch. Exceptions: only a message of the user began it, and the same call fails again; a change after a wrong use.
 * - The same call succeeds, or fails with another message.
 * - For failures of one kind, and for lookups of missing things: the same program succeeds with something new.
 * - Another call fails after a change, unless it is a wrong use.
 *
 * Ignores:
 * - Failures without a message.
 */
export const repeatedErrorDetector: DetectorFactory<'exactWarnAt' | 'causeWarnAt' | 'groupWarnAt' | 'maxBetween'> =
  defineDetector(
    'repeated_error',
    {
      exactWarnAt: countShape(3),
      causeWarnAt: countShape(4),
      groupWarnAt: countShape(5),
      maxBetween: whole(0, MAX_COUNT, 4),
    },
    ({ exactWarnAt, causeWarnAt, groupWarnAt, maxBetween }, state: State = { rows: [], changed: false }) => {
      const rows = new LruMap<Row>(MAX_ROWS, state.rows);
      let { changed } = state;
      let lastOrdinal = -1;
      let lastFailureOrdinal = Math.max(-1, ...rows.entries().map(([, row]) => row.ordinal));
      /** Ends the rows of the call that succeeded, and loose rows of its program. */
      const endRows = (step: Step, context: StepContext): readonly Sighting[] => {
        if (context.ordinal - lastFailureOrdinal > 2 * (maxBetween + 1)) return [];
        return rows.entries().flatMap(([key, row]) => {
          const isSameCall = row.lastArgsKey === step.argsKey;
          if (!isSameCall && !(row.loose && context.novel && row.program === step.program)) return [];
          rows.delete(key);
          return isSameCall ? [endSighting('repeated_error', key)] : [];
        });
      };
      const extendRow = (key: string, step: Step, context: StepContext, loose: boolean): Row => {
        const previous = rows.get(key);
        const isTimeless = step.failure?.category === 'usage' && previous?.userMessages === context.userMessages;
        const isContinued =
          previous !== undefined &&
          context.ordinal - previous.ordinal <= (isTimeless ? 2 : 1) * (maxBetween + 1) &&
          (previous.lastArgsKey === step.argsKey
            ? previous.lastMessageKey === step.failure?.messageKey &&
              (isTimeless || context.epoch - previous.epoch === context.userMessages - previous.userMessages)
            : isTimeless || (previous.epoch === context.epoch && !changed));
        const row =
          isContinued && previous.turn === step.turn
            ? previous
            : nextRow(isContinued ? previous : undefined, step, context, loose);
        rows.set(key, row);
        return row;
      };
      return {
        observe(step, context) {
          lastOrdinal = context.ordinal;
          const { failure, tool } = step;
          if (failure === undefined) {
            if (step.kind === 'write') changed = true;
            return endRows(step, context);
          }
          const { category } = failure;
          if (category === 'silent') return undefined;
          lastFailureOrdinal = context.ordinal;
          const key = `${tool}:${failure.groupKey}`;
          const isLookup = category === 'not-found';
          const isOutside = OUTSIDE_CAUSES.has(category);
          const exactRow = extendRow(`${key}:${failure.exactKey}`, step, context, isLookup);
          const messageRow = extendRow(`${tool}:${failure.messageKey}`, step, context, isLookup);
          const groupRow = extendRow(key, step, context, !isOutside);
          changed = false;
          // Such a text does not name what is wrong.
          const isUsageText = category === 'usage' && failure.line.toLowerCase().startsWith('usage');
          const isWeakEvidence = failure.soft || isLookup || isUsageText || category === 'timeout';
          const isWaitable = WAITABLE_CAUSES.has(category);
          const extraForBackoff = isWaitable ? groupRow.backoffs : 0;
          const extra = extraForBackoff + (isWeakEvidence && !exactRow.sameArgs ? 1 : 0);
          // Without a call in between that may have changed something.
          const isAgain = messageRow.sameArgs && messageRow.evidence.at(-exactWarnAt) === step.index - exactWarnAt + 1;
          const grade = [
            gradeCount(exactRow.count, exactWarnAt + extra),
            gradeCount(messageRow.count, (isAgain && !isWaitable ? exactWarnAt : causeWarnAt) + extra),
            gradeCount(groupRow.count, (isOutside ? causeWarnAt : groupWarnAt) + extraForBackoff),
          ].reduce(moreConfident);
          if (grade === undefined) return undefined;
          const { count, evidence } = [groupRow, messageRow, exactRow].reduce((left, right) =>
            right.count > left.count ? right : left,
          );
          return [{ kind: 'repeated_error', key, stuck: true, ...grade, occurrences: count, tool, evidence }];
        },
        // A row that is too old to go on is left out.
        snapshot: () => ({
          rows: rows.entries().filter(([, row]) => lastOrdinal - row.ordinal <= 2 * (maxBetween + 1)),
          changed,
        }),
      };
    },
  );

function nextRow(
  previous: Row | undefined,
  step: Step,
  { ordinal, epoch, userMessages }: StepContext,
  loose: boolean,
): Row {
  const gapMs = previous !== undefined && previous.atMs > 0 && step.atMs > 0 ? step.atMs - previous.atMs : 0;
  const previousGapMs = previous?.gapMs ?? 0;
  const isBackoff = gapMs >= MIN_BACKOFF_MS && previousGapMs > 0 && gapMs >= BACKOFF_FACTOR * previousGapMs;
  return {
    count: (previous?.count ?? 0) + 1,
    program: step.program,
    loose,
    sameArgs: previous === undefined || (previous.sameArgs && previous.lastArgsKey === step.argsKey),
    lastArgsKey: step.argsKey,
    lastMessageKey: step.failure?.messageKey ?? '',
    ordinal,
    epoch,
    userMessages,
    turn: step.turn,
    atMs: step.atMs,
    gapMs,
    backoffs: (previous?.backoffs ?? 0) + (isBackoff ? 1 : 0),
    evidence: appendEvidence(previous?.evidence ?? [], step.index),
  };
}
