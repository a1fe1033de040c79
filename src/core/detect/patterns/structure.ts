import { similarity } from '../calls/tokens.ts';
import { LruMap } from '../../base/lru-map.ts';
import type { StepContext } from './pattern-detector.ts';
import type { Step } from './step.ts';

const NO_COUNTS = {
  turns: 0,
  /** Number of turns that began without a record: with a call that was not announced, after another call had finished. */
  silentTurns: 0,
  /** Number of calls that the last message of the model announced and that have not started. */
  announced: 0,
  calls: 0,
  /** True if the next call is of the same turn: no call has finished since the last one started or the turn began. */
  batchOpen: false,
  finished: 0,
  errors: 0,
  consecutiveErrors: 0,
  refused: 0,
  /** True if a call was refused since the last user message. */
  refusalStands: false,
  userMessages: 0,
  /** As in `TextPlace`. */
  requests: 0,
  /** Key of the last message of the user. */
  lastRequest: '',
  compactions: 0,
  ordinal: 0,
  /** True if the last step was a pause. */
  waited: false,
  firstAtMs: 0,
  lastAtMs: 0,
  /** Time of the last result in Unix milliseconds; 0 if unknown. */
  lastEndMs: 0,
};

/** Mutable counters. The analysis changes them in place, because copying them would cost more than the rest of a fold. */
export type OwnCounters = typeof NO_COUNTS & { task: string | null };
export type Counters = Readonly<OwnCounters>;

export function newCounters(): OwnCounters {
  return { ...NO_COUNTS, task: null };
}

interface SeenCall extends Pick<Step, 'turn' | 'tool' | 'argsKey' | 'frameKey' | 'resultKey' | 'shapeKey' | 'tokens'> {
  readonly ordinal: number;
  /** Number of epochs and changes in the run, including repeated changes. Calls with different values are not compared. */
  readonly era: number;
  /** Key of the failure cause; empty if the call succeeded. */
  readonly cause: string;
  /** True if the call started a new epoch. */
  readonly advanced: boolean;
  /** True if an earlier result had the same `shapeKey`. */
  readonly old: boolean;
  /** Share of the result lines that are new. */
  readonly freshLines: number;
  readonly short: boolean;
  /** True if an earlier compared call had the same arguments and the same result. */
  readonly again: boolean;
  /** True if an earlier compared call had the same arguments and a different result. */
  readonly moved: boolean;
}

export interface StructureSnapshot {
  readonly calls: readonly SeenCall[];
  readonly shapes: readonly number[];
  readonly staleRun: number;
  readonly changes: number;
  readonly newAt: number;
  readonly newTool: string;
}

export const FEATURES = [
  'sameAnswer',
  'sameShape',
  'sameArguments',
  'sameFrame',
  'sameCall',
  'likeArguments',
  'failed',
  'failures',
  'sameCause',
  'oldAnswers',
  'freshLines',
  'freshLinesNow',
  'changes',
  'shortAnswers',
  'staleRun',
  'filled',
  'again',
  'moved',
] as const;

const WINDOW = 8;
const MAX_SHAPES = 64;
const MAX_STALE = 12;
const SHORT_CHARS = 10;
const MIN_LIKENESS = 0.6;

/**
 * `FEATURES` as numbers from 0 to 1. Reads no words of results, and compares no calls of one turn. Cost: O(8) per step.
 * Memory: hashes of 64 results.
 */
export class Structure {
  readonly #calls: SeenCall[];
  readonly #shapes: LruMap<true, number>;
  #staleRun: number;
  #changes: number;
  /** Ordinal and tool of the last successful call with new information. */
  #newAt: number;
  #newTool: string;
  #cameBack = false;

  constructor(snapshot?: StructureSnapshot) {
    this.#calls = [...(snapshot?.calls ?? [])];
    this.#shapes = new LruMap(
      MAX_SHAPES,
      (snapshot?.shapes ?? []).map((key) => [key, true]),
    );
    this.#staleRun = snapshot?.staleRun ?? 0;
    this.#changes = snapshot?.changes ?? 0;
    this.#newAt = snapshot?.newAt ?? -1;
    this.#newTool = snapshot?.newTool ?? '';
  }

  /**
   * True if the last call repeats an earlier call, and another tool gave new information in between. Also true if the last call gave
   * new information and the call before it used another tool, or if it failed in another form after new information.
   */
  get cameBack(): boolean {
    return this.#cameBack;
  }

  observe(step: Step, context: StepContext): void {
    if (step.kind === 'write' && step.failure === undefined && !step.unchanged) this.#changes += 1;
    if (this.#calls.length > WINDOW) this.#calls.shift();
    const now = this.#toSeenCall(step, context);
    const previous = this.#calls.findLast((call) => call.argsKey === now.argsKey);
    const isNew = context.novel && step.failure === undefined;
    const lastCall = this.#calls.at(-1);
    // A call that fails in another form is no repetition if the agent has looked at something since the last failure.
    const failedBefore = now.cause === '' ? undefined : this.#calls.findLast((call) => call.cause === now.cause);
    const hasLooked = failedBefore !== undefined && this.#newAt > failedBefore.ordinal;
    this.#cameBack =
      previous === undefined
        ? hasLooked || (isNew && lastCall !== undefined && lastCall.tool !== step.tool)
        : this.#newAt > previous.ordinal && this.#newTool !== step.tool;
    if (isNew) [this.#newAt, this.#newTool] = [context.ordinal, step.tool];
    this.#calls.push(now);
    this.#staleRun = now.freshLines === 0 && now.old && !now.advanced ? Math.min(MAX_STALE, this.#staleRun + 1) : 0;
  }

  get again(): number {
    return this.#share((call, now) => call.again && call.era === now.era);
  }
  get moved(): number {
    return this.#share((call, now) => call.moved && call.era === now.era);
  }
  get filled(): number {
    return Math.min(WINDOW, this.#calls.length) / WINDOW;
  }
  get sameAnswer(): number {
    return this.#alike((call, now) => call.resultKey === now.resultKey);
  }
  get sameCause(): number {
    return this.#alike((call, now) => now.cause !== '' && call.cause === now.cause);
  }

  /** Returns the features after the last step, in the order of `FEATURES`. Cost: a few passes over 8 calls. */
  features(): readonly number[] {
    const calls = this.#calls.slice(-WINDOW);
    return [
      this.sameAnswer,
      this.#alike((call, now) => call.shapeKey === now.shapeKey),
      this.#alike((call, now) => call.argsKey === now.argsKey),
      this.#alike((call, now) => call.frameKey === now.frameKey),
      this.#alike((call, now) => call.argsKey === now.argsKey && call.shapeKey === now.shapeKey),
      this.#alike((call, now) => similarity(call.tokens, now.tokens) >= MIN_LIKENESS),
      (calls.at(-1)?.cause ?? '') === '' ? 0 : 1,
      this.#share((call) => call.cause !== ''),
      this.sameCause,
      this.#share((call) => call.old),
      calls.reduce((sum, call) => sum + call.freshLines, 0) / Math.max(1, calls.length),
      calls.at(-1)?.freshLines ?? 0,
      this.#share((call) => call.advanced),
      this.#share((call) => call.short),
      this.#staleRun / MAX_STALE,
      this.filled,
      this.again,
      this.moved,
    ];
  }

  #share(matches: (call: SeenCall, now: SeenCall) => boolean): number {
    const now = this.#calls.at(-1);
    return now === undefined ? 0 : this.#calls.slice(-WINDOW).filter((call) => matches(call, now)).length / WINDOW;
  }

  /** Returns the same share for the 8 calls before the last one. Calls of the same turn or of another era are excluded. */
  #alike(matches: (call: SeenCall, now: SeenCall) => boolean): number {
    const now = this.#calls.at(-1);
    if (now === undefined) return 0;
    return (
      this.#calls.filter((call) => call.turn !== now.turn && call.era === now.era && matches(call, now)).length / WINDOW
    );
  }

  snapshot(): StructureSnapshot {
    return {
      calls: this.#calls.slice(-WINDOW),
      shapes: this.#shapes.entries().map(([key]) => key),
      staleRun: this.#staleRun,
      changes: this.#changes,
      newAt: this.#newAt,
      newTool: this.#newTool,
    };
  }

  #toSeenCall(step: Step, context: StepContext): SeenCall {
    const old = this.#shapes.has(step.shapeKey);
    this.#shapes.set(step.shapeKey, true);
    const era = context.epoch + this.#changes;
    const sameCalls = this.#calls.filter(
      (call) => call.turn !== step.turn && call.era === era && call.argsKey === step.argsKey,
    );
    const { turn, tool, argsKey, frameKey, resultKey, shapeKey, tokens } = step;
    const compared = { turn, tool, argsKey, frameKey, resultKey, shapeKey, tokens };
    return {
      ...compared,
      ordinal: context.ordinal,
      era,
      cause: step.failure === undefined || step.failure.category === 'silent' ? '' : step.failure.groupKey,
      advanced: context.advanced,
      old,
      freshLines: context.freshLines,
      short: step.resultChars < SHORT_CHARS,
      again: sameCalls.some((call) => call.resultKey === step.resultKey),
      moved: sameCalls.some((call) => call.resultKey !== step.resultKey),
    };
  }
}
