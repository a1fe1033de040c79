import { LruMap } from '../../base/lru-map.ts';
import { whole } from '../../base/shape.ts';
import type { StepContext } from '../patterns/pattern-detector.ts';
import type { Step } from '../patterns/step.ts';
import { defineDetector, type DetectorFactory } from './define-detector.ts';
import { appendEvidence, NO_CALLS } from './level.ts';

interface SeenCall extends Pick<Step, 'turn' | 'tool' | 'argsKey' | 'resultKey'> {
  readonly ordinal: number;
  /** Number of epochs and changes in the run, including repeated changes. Calls with different values are not compared. */
  readonly era: number;
  /** Key of the failure cause; empty if the call succeeded. */
  readonly cause: string;
  /** It failed, or its result differs from an earlier one only in digits. */
  readonly stale: boolean;
  /** An earlier call had the same arguments and the same result. */
  readonly again: boolean;
  /** An earlier call had the same arguments and another result. */
  readonly moved: boolean;
}

interface State {
  readonly calls: readonly SeenCall[];
  readonly shapes: readonly (readonly [number, true])[];
  readonly changes: number;
  /** Ordinal and tool of the last successful call with new information. */
  readonly newAt: number;
  readonly newTool: string;
  readonly evidence: readonly number[];
}

const EMPTY: State = { calls: [], shapes: [], changes: 0, newAt: -1, newTool: '', evidence: NO_CALLS };
const WINDOW = 8;
/** With fewer calls, two rounds of three calls look like a loop before the third begins. */
const MIN_CALLS = 6;
/** Earlier calls with the same result or the same cause. */
const MIN_SAME = 2;
const MIN_FAILED = 3;
const MAX_SHAPES = 64;

/**
 * Most of the last calls brought nothing new, and the last one gave the same result as two others. It finds loops that no rule for one
 * kind of loop finds: a few calls that recur in no order.
 *
 * Source of the number: a regression over eighteen features of the last calls, trained on labelled calls of recorded runs, decided in 96 of 100
 * cases as this count does.
 *
 * Warns at:
 * - 5 of the last 8 calls (`warnAt`) that failed or gave an old result, numbers aside, or 3 if the last one failed; strong at 8; no hint.
 * - The last call and two others gave the same result or failure, in different turns, and one of the calls came twice.
 * - Not while another detector is at `warn`.
 *
 * Resets on:
 * - A change, also one that was already made before.
 * - A message of the user.
 * - A new result of another tool since the previous such call, or any new result before a failure in another form.
 *
 * Ignores:
 * - Polls and acknowledgements.
 * - Calls that had another result before.
 * - Fewer than six calls.
 */
export const repetitionDetector: DetectorFactory<'warnAt'> = defineDetector(
  'repetition',
  { warnAt: whole(1, WINDOW, 5) },
  ({ warnAt }, snapshot: State = EMPTY) => {
    let state = snapshot;
    const shapes = new LruMap<true, number>(MAX_SHAPES, state.shapes);
    return {
      observe(step, context) {
        if (step.transparent || step.resultMissing) return undefined;
        const { failure, tool } = step;
        const changes = state.changes + (step.kind === 'write' && failure === undefined && !step.unchanged ? 1 : 0);
        const now = seenCall(step, context, { changes, calls: state.calls, isOld: shapes.has(step.shapeKey) });
        shapes.set(step.shapeKey, true);
        const isNew = context.novel && failure === undefined;
        const isSilent = failure?.category === 'silent';
        const isIgnored = isSilent || step.kind === 'poll' || step.acknowledged;
        const calls = [...state.calls, now];
        const window = calls.slice(-WINDOW);
        const staleCount = window.filter(({ stale }) => stale).length;
        const isSeen =
          !isIgnored &&
          staleCount >= (failure === undefined ? warnAt : Math.min(warnAt, MIN_FAILED)) &&
          !cameBack(now, isNew, state) &&
          recurs(now, calls, window);
        const evidence = isSeen ? appendEvidence(state.evidence, step.index) : [];
        const [newAt, newTool] = isNew ? [context.ordinal, tool] : [state.newAt, state.newTool];
        state = { calls: window, shapes: [], changes, newAt, newTool, evidence };
        if (!isSeen) return undefined;
        return [
          {
            kind: 'repetition',
            key: tool,
            stuck: true,
            level: staleCount === WINDOW ? 'strong' : 'warn',
            confidence: Math.min(0.99, staleCount / WINDOW),
            occurrences: evidence.length,
            tool,
            evidence,
            vague: true,
          },
        ];
      },
      snapshot: () => ({ ...state, shapes: shapes.entries() }),
    };
  },
);

function seenCall(
  step: Step,
  { epoch, ordinal }: StepContext,
  { calls, changes, isOld }: Pick<State, 'calls' | 'changes'> & { readonly isOld: boolean },
): SeenCall {
  const { turn, tool, argsKey, resultKey, failure } = step;
  const era = epoch + changes;
  const sameCalls = calls.filter((call) => call.turn !== turn && call.era === era && call.argsKey === argsKey);
  return {
    turn,
    tool,
    argsKey,
    resultKey,
    ordinal,
    era,
    cause: failure === undefined || failure.category === 'silent' ? '' : failure.groupKey,
    stale: isOld || failure !== undefined,
    again: sameCalls.some((call) => call.resultKey === resultKey),
    moved: sameCalls.some((call) => call.resultKey !== resultKey),
  };
}

/** True if the call repeats another, with something new of another tool in between or by itself, or failed in another form after it. */
function cameBack(now: SeenCall, isNew: boolean, { calls, newAt, newTool }: State): boolean {
  const previous = calls.findLast((call) => call.argsKey === now.argsKey);
  if (previous !== undefined) return newAt > previous.ordinal && newTool !== now.tool;
  const lastCall = calls.at(-1);
  if (isNew && lastCall !== undefined && lastCall.tool !== now.tool) return true;
  const failedBefore = now.cause === '' ? undefined : calls.findLast((call) => call.cause === now.cause);
  return failedBefore !== undefined && newAt > failedBefore.ordinal;
}

/** If each answer is new, the calls may be alike by nature: pages, batches, readings of a gauge. */
function recurs(now: SeenCall, calls: readonly SeenCall[], window: readonly SeenCall[]): boolean {
  const ofEra = window.filter((call) => call.era === now.era);
  if (window.length < MIN_CALLS || ofEra.some((call) => call.moved) || !ofEra.some((call) => call.again)) return false;
  const same = calls.filter(
    (call) =>
      call.turn !== now.turn &&
      call.era === now.era &&
      (now.cause === '' ? call.resultKey === now.resultKey : call.cause === now.cause),
  );
  return same.length >= MIN_SAME;
}
