import type { Json } from '../../base/json.ts';
import { LruMap } from '../../base/lru-map.ts';
import { OUTSIDE, WAITABLE } from '../../calls/error-class.ts';
import type { PatternDetector, Sighting, StepContext } from '../pattern-detector.ts';
import type { Step } from '../step.ts';
import { gradeCount, overSighting, surer, withEvidence } from './level.ts';
import { whole } from '../../base/shape.ts';
import { defineDetector, MAX_COUNT, repeats, type DetectorDefinition } from './define-detector.ts';

/** Options of `repeatedErrorDetector`: failures at which it warns. */
export interface RepeatedErrorOptions {
  /** The same words; default 3. */
  readonly exactWarnAt?: number;
  /** The same lines that speak of failure, or one cause that lies outside the call (permission, network…); default 4. */
  readonly causeWarnAt?: number;
  /** The same kind of failure naming another thing each time; default 5. */
  readonly groupWarnAt?: number;
  /** Other calls that may stand between two failures; default 4. */
  readonly maxBetween?: number;
}

/** A row of failures that share a key: the same words, or the same cause. */
interface Row {
  readonly count: number;
  readonly program: string;
  /** They share a kind of failure only, and it may lie in what each of them names. */
  readonly loose: boolean;
  /** Arguments of the first one, and whether all had the same. */
  readonly argsKey: string;
  readonly sameArgs: boolean;
  /** Arguments and speaking lines of the last one, places aside: a shell counts the lines that it is given. */
  readonly lastArgsKey: string;
  readonly lastWordsKey: string;
  readonly ordinal: number;
  readonly epoch: number;
  /** Messages of the user so far, and whether one came since the first failure. */
  readonly userMessages: number;
  readonly spoken: boolean;
  readonly turn: number;
  readonly atMs: number;
  readonly gapMs: number;
  /** Pauses so far that were clearly longer than the one before. */
  readonly backoffs: number;
  /** Failures that came after the agent had paused on purpose, long or nobody knows how long. */
  readonly waits: number;
  readonly evidence: readonly number[];
}

/** Something is held by somebody else, or not there yet: the same. */
const TAKEN =
  /\block(?:ed|s)?\b|\bbusy\b|\bin use\b|another process|try again|temporarily|not (?:yet )?(?:ready|available)|starting up/i;

interface State {
  readonly rows: readonly (readonly [string, Row])[];
  /** The agent has paused since the last failure. */
  readonly waited: boolean;
  /** It has changed something since then, be it the same as before. */
  readonly changed?: boolean;
}

/** Far more than may stand between two failures of a row; it bounds the snapshot. */
const MAX_ROWS = 64;
/** A pause this much longer than the one before counts as backing off. */
const BACKOFF_FACTOR = 1.5;
const MIN_BACKOFF_MS = 1_000;
/** A pause that was made on purpose and is no mere breath. */
const LONG_WAIT_MS = 20_000;
/** Patience with such pauses, and with those of unknown length. */
const MAX_WAITS = 2;

/**
 * One tool failing with one error again and again within an epoch. Errors are grouped by cause and masked line;
 * the same words count soonest, one cause outside the call next, the same kind naming another thing each time last.
 * Failures of one turn count once; pauses that grow raise the threshold; one call whose failure changes its words moves.
 *
 * Warns at:
 * - 3 failures with the same words (`exactWarnAt`).
 * - 4 failures with the same speaking lines, with a line in which only numbers differ, or with one cause outside the call
 *   (`causeWarnAt`).
 * - 5 failures of one kind that names another thing each time (`groupWarnAt`).
 * - At most 4 other calls stand between two of them (`maxBetween`).
 * - One more for failures that nothing flags, usage texts, time-outs and "not found", while the arguments change. A JSON answer
 *   that says that it failed, and why, is a flag.
 * - One more for each pause that is clearly longer than the one before, and for up to two deliberate pauses (20 seconds, or
 *   where no times are known), for rate limits, time-outs, the network, and what is locked or not ready.
 *
 * Begins anew at:
 * - A new epoch. Exception: when the very same call fails and only the user spoke, the fifth failure is flagged.
 * - The same call failing with other words, or succeeding.
 * - Where only the kind is equal, or the things that are looked up are missing: the same program succeeding with something new.
 * - Another call failing after a change was made.
 *
 * Does not count:
 * - Failures that say nothing.
 */
export function repeatedErrorDetector(options: RepeatedErrorOptions = {}): PatternDetector {
  const { exactWarnAt = 3, causeWarnAt = 4, groupWarnAt = 5, maxBetween = 4 } = options;
  return {
    name: 'repeated_error',
    start(snapshot?: Json) {
      // A snapshot given to a detector is its own: the analysis keeps them by name.
      const state = (snapshot as unknown as State | undefined) ?? { rows: [], waited: false };
      const rows = new LruMap<Row>(MAX_ROWS, state.rows);
      let waited = state.waited;
      let changed = state.changed ?? false;
      let newest = -1;
      let newestFailure = Math.max(-1, ...rows.entries().map(([, row]) => row.ordinal));
      /** The very call that failed has succeeded, or the same program with other things: what stood in its way is gone. */
      const overcome = (step: Step, context: StepContext): readonly Sighting[] => {
        if (context.ordinal - newestFailure > maxBetween + 1) return [];
        return rows.entries().flatMap(([key, row]) => {
          const isSameCall = row.lastArgsKey === step.argsKey;
          if (!isSameCall && !(row.loose && context.novel && row.program === step.program)) return [];
          rows.delete(key);
          return isSameCall ? [overSighting('repeated_error', key)] : [];
        });
      };
      const extend = (key: string, step: Step, context: StepContext, loose = false): Row => {
        const before = rows.get(key);
        const goesOn =
          before !== undefined &&
          (before.epoch === context.epoch || isOnlyAskedAgain(before, step, context)) &&
          context.ordinal - before.ordinal <= maxBetween + 1 &&
          !hasMoved(before, step) &&
          // Another thing failed, and what the one before had left was dealt with.
          !(changed && before.lastArgsKey !== step.argsKey);
        const row =
          goesOn && before.turn === step.turn
            ? before
            : nextRow(goesOn ? before : undefined, step, context, { waited, loose });
        rows.set(key, row);
        return row;
      };
      return {
        observe(step, context) {
          newest = context.ordinal;
          if (step.kind === 'wait') waited = true;
          const failure = step.failure;
          if (failure === undefined) {
            if (step.kind === 'write') changed = true;
            return overcome(step, context);
          }
          if (failure.category === 'silent') return undefined;
          newestFailure = context.ordinal;
          const key = `${step.tool}:${failure.groupKey}`;
          // Where things are looked up one after another, the same words are said of each that is not there.
          const lookedUp = failure.category === 'not-found';
          const provesLittle =
            failure.soft || lookedUp || failure.category === 'usage' || failure.category === 'timeout';
          const exact = extend(`${step.tool}:${failure.groupKey}:${failure.exactKey}`, step, context, lookedUp);
          const spoken = extend(`${step.tool}:${failure.spokenKey}`, step, context, lookedUp);
          const counted = extend(`${step.tool}:#:${failure.countlessKey}`, step, context, lookedUp);
          const group = extend(key, step, context, !OUTSIDE.has(failure.category));
          // Patience with failures that prove less, and with an agent that waits longer each time.
          const doubt = provesLittle && !exact.sameArgs ? 1 : 0;
          waited = false;
          changed = false;
          const patience =
            WAITABLE.has(failure.category) || TAKEN.test(failure.line)
              ? Math.max(group.backoffs, Math.min(group.waits, MAX_WAITS))
              : 0;
          // A user who says "yes, please" changes nothing for a call that is refused in the same words, but takes patience.
          const needed = (row: Row, standard: number): number =>
            row.spoken ? Math.max(standard, groupWarnAt) : standard;
          const byWords = gradeCount(exact.count, needed(exact, exactWarnAt) + doubt + patience);
          const byCause = gradeCount(
            group.count,
            needed(group, OUTSIDE.has(failure.category) ? causeWarnAt : groupWarnAt) + patience,
          );
          const bySpoken = gradeCount(spoken.count, needed(spoken, causeWarnAt) + doubt + patience);
          const byCounted = gradeCount(counted.count, needed(counted, causeWarnAt) + doubt + patience);
          const grade = surer(surer(byWords, bySpoken), surer(byCause, byCounted));
          if (grade === undefined) return undefined;
          const { count, evidence } = [group, counted, spoken, exact].reduce((one, other) =>
            other.count > one.count ? other : one,
          );
          return [
            {
              kind: 'repeated_error',
              key,
              stuck: true,
              ...grade,
              occurrences: count,
              tool: step.tool,
              evidence,
            },
          ];
        },
        // A row that is too old to go on is as good as none.
        snapshot: () => {
          const young = rows.entries().filter(([, row]) => newest - row.ordinal <= maxBetween);
          return { rows: young, waited, changed } as unknown as Json;
        },
      };
    },
  };
}

/** Nothing but messages of the user lies between, and the very same call fails again. */
function isOnlyAskedAgain(before: Row, step: Step, { epoch, userMessages }: StepContext): boolean {
  return epoch - before.epoch === userMessages - before.userMessages && before.lastArgsKey === step.argsKey;
}

/** The very same call fails in other words: something behind it has changed, one missing module gave way to the next. */
function hasMoved(before: Row, step: Step): boolean {
  return before.lastArgsKey === step.argsKey && before.lastWordsKey !== step.failure?.placelessKey;
}

function nextRow(
  before: Row | undefined,
  step: Step,
  context: StepContext,
  { waited, loose }: { readonly waited: boolean; readonly loose: boolean },
): Row {
  const gapMs = before !== undefined && before.atMs > 0 && step.atMs > 0 ? step.atMs - before.atMs : 0;
  const backed =
    gapMs >= MIN_BACKOFF_MS && before !== undefined && before.gapMs > 0 && gapMs >= BACKOFF_FACTOR * before.gapMs;
  return {
    count: (before?.count ?? 0) + 1,
    program: step.program,
    loose,
    argsKey: before?.argsKey ?? step.argsKey,
    sameArgs: before === undefined || (before.sameArgs && before.argsKey === step.argsKey),
    lastArgsKey: step.argsKey,
    lastWordsKey: step.failure?.placelessKey ?? '',
    ordinal: context.ordinal,
    epoch: context.epoch,
    userMessages: context.userMessages,
    spoken: before !== undefined && (before.spoken || before.userMessages !== context.userMessages),
    turn: step.turn,
    atMs: step.atMs,
    gapMs,
    backoffs: (before?.backoffs ?? 0) + (backed ? 1 : 0),
    waits:
      (before?.waits ?? 0) + (waited && before !== undefined && (step.atMs === 0 || gapMs >= LONG_WAIT_MS) ? 1 : 0),
    evidence: withEvidence(before?.evidence ?? [], step.index),
  };
}

export const repeatedError: DetectorDefinition<RepeatedErrorOptions> = defineDetector<RepeatedErrorOptions>(
  {
    exactWarnAt: repeats(3),
    causeWarnAt: repeats(4),
    groupWarnAt: repeats(5),
    maxBetween: whole(0, MAX_COUNT, 4),
  },
  repeatedErrorDetector,
);
