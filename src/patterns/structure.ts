import { similarity } from '../calls/similarity.ts';
import { LruMap } from '../base/lru-map.ts';
import type { StepContext } from './pattern-detector.ts';
import type { Step } from './step.ts';

/** What is compared of one of the last calls. */
interface SeenCall {
  readonly turn: number;
  readonly ordinal: number;
  readonly tool: string;
  /** Epochs and changes so far, also those made before: what stands after one is not compared with what stood before it. */
  readonly era: number;
  readonly argsKey: string;
  readonly frameKey: number;
  readonly resultKey: string;
  readonly shapeKey: number;
  readonly tokens: readonly number[];
  /** Key of the failure's cause; empty for a success. */
  readonly cause: string;
  /** The world changed, the answer was met before, share of its lines that were not. */
  readonly advanced: boolean;
  readonly old: boolean;
  readonly freshLines: number;
  readonly short: boolean;
  /** The same call came out alike before, among those compared. */
  readonly again: boolean;
  /** The same call came out otherwise before. */
  readonly moved: boolean;
}

/** What `Structure` needs to go on: plain JSON. */
export interface StructureSnapshot {
  readonly calls: readonly SeenCall[];
  readonly shapes: readonly string[];
  readonly staleRun: number;
  readonly changes: number;
  readonly newAt: number;
  readonly newTool: string;
}

/** Names of the features, in the order of `Structure.observe`. */
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

/** Calls compared. */
const WINDOW = 8;
const MAX_SHAPES = 64;
/** So many calls in a row without a new line count; more say no more. */
const MAX_STALE = 12;
/** An answer under so many characters says little. */
const SHORT_CHARS = 10;
const LIKE = 0.6;

/**
 * How much the last 8 calls resemble each other, as numbers from 0 to 1 (`FEATURES`): no word of any answer is read. Calls of the
 * same turn are not compared with each other.
 *
 * Cost: O(8) a step; 64 answers are remembered as hashes.
 */
export class Structure {
  readonly #calls: SeenCall[];
  readonly #shapes: LruMap<true>;
  #staleRun: number;
  #changes: number;
  /** Ordinal and tool of the last call that succeeded with something new. */
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

  /** The last call was made before, and another tool has done something new since, or it is new work after a look by another tool. */
  get cameBack(): boolean {
    return this.#cameBack;
  }

  /** @returns the features after this step, in the order of `FEATURES` */
  observe(step: Step, context: StepContext): readonly number[] {
    if (step.kind === 'write' && step.failure === undefined && !step.unchanged) this.#changes += 1;
    const now = this.#seen(step, context);
    const others = this.#calls.filter((call) => call.turn !== now.turn && call.era === now.era);
    const before = this.#calls.findLast((call) => call.argsKey === now.argsKey);
    const isNew = context.novel && step.failure === undefined;
    const last = this.#calls.at(-1);
    this.#cameBack =
      before === undefined
        ? isNew && last !== undefined && last.tool !== step.tool
        : this.#newAt > before.ordinal && this.#newTool !== step.tool;
    if (isNew) [this.#newAt, this.#newTool] = [context.ordinal, step.tool];
    this.#calls.push(now);
    if (this.#calls.length > WINDOW) this.#calls.shift();
    this.#staleRun = now.freshLines === 0 && now.old && !now.advanced ? Math.min(MAX_STALE, this.#staleRun + 1) : 0;
    const calls = this.#calls;
    const share = (matches: (call: SeenCall) => boolean): number => calls.filter(matches).length / WINDOW;
    const alike = (matches: (call: SeenCall) => boolean): number => others.filter(matches).length / WINDOW;
    return [
      alike((call) => call.resultKey === now.resultKey),
      alike((call) => call.shapeKey === now.shapeKey),
      alike((call) => call.argsKey === now.argsKey),
      alike((call) => call.frameKey === now.frameKey),
      alike((call) => call.argsKey === now.argsKey && call.shapeKey === now.shapeKey),
      alike((call) => similarity(call.tokens, now.tokens) >= LIKE),
      now.cause === '' ? 0 : 1,
      share((call) => call.cause !== ''),
      now.cause === '' ? 0 : alike((call) => call.cause === now.cause),
      share((call) => call.old),
      calls.reduce((sum, call) => sum + call.freshLines, 0) / calls.length,
      now.freshLines,
      share((call) => call.advanced),
      share((call) => call.short),
      this.#staleRun / MAX_STALE,
      calls.length / WINDOW,
      share((call) => call.again && call.era === now.era),
      share((call) => call.moved && call.era === now.era),
    ];
  }

  snapshot(): StructureSnapshot {
    return {
      calls: this.#calls,
      shapes: this.#shapes.entries().map(([key]) => key),
      staleRun: this.#staleRun,
      changes: this.#changes,
      newAt: this.#newAt,
      newTool: this.#newTool,
    };
  }

  #seen(step: Step, context: StepContext): SeenCall {
    const shape = String(step.shapeKey);
    const old = this.#shapes.has(shape);
    this.#shapes.set(shape, true);
    const era = context.epoch + this.#changes;
    const alike = this.#calls.filter(
      (call) => call.turn !== step.turn && call.era === era && call.argsKey === step.argsKey,
    );
    return {
      turn: step.turn,
      ordinal: context.ordinal,
      tool: step.tool,
      era,
      argsKey: step.argsKey,
      frameKey: step.frameKey,
      resultKey: step.resultKey,
      shapeKey: step.shapeKey,
      tokens: step.tokens,
      cause: step.failure === undefined || step.failure.category === 'silent' ? '' : step.failure.groupKey,
      advanced: context.advanced,
      old,
      freshLines: context.freshLines,
      short: step.resultChars < SHORT_CHARS,
      again: alike.some((call) => call.resultKey === step.resultKey),
      moved: alike.some((call) => call.resultKey !== step.resultKey),
    };
  }
}
