import type { Json, Mutable } from '../../base/json.ts';
import type { PatternLevel } from '../../records/trajectory-pattern.ts';
import type { Step } from './step.ts';
import type { CallOutcome } from '../../records/trajectory-record.ts';

/** The context of a step. Every detector receives the same context. */
export interface StepContext {
  /** Number of successful state changes and user messages in the run. Repeated calls are only counted within the same epoch. */
  readonly epoch: number;
  /** True if this step started a new epoch. */
  readonly advanced: boolean;
  /** True if no earlier call in this epoch had the same arguments and the same result. */
  readonly novel: boolean;
  /** Number of non-transparent steps in the run, including this step. */
  readonly ordinal: number;
  readonly userMessages: number;
  /** The task of the agent, if known. */
  readonly task: string | undefined;
}

/** A detector reports a new pattern, or sees an open pattern again. */
export interface Sighting {
  readonly kind: string;
  /** Distinguishes patterns of the same kind, for example by call, cause or file. */
  readonly key: string;
  readonly stuck: boolean;
  readonly level: PatternLevel;
  /** From 0 to 1. */
  readonly confidence: number;
  readonly occurrences: number;
  readonly tool?: string;
  /** Call indices in ascending order. Only the last 32 are kept. */
  readonly evidence: readonly number[];
  /** True if the pattern with this kind and key has ended. The other fields are then ignored. Default: false. */
  readonly over?: true;
  /** True if this sighting is ignored while a more specific stuck pattern is flagged. Default: false. */
  readonly vague?: true;
}

/** Where a text of the agent stands. */
export interface TextPlace {
  /** Index of the last call that was issued before the text; 0 before the first call. */
  readonly callIndex: number;
  /** Number of messages of the user, without those that only repeat the message before and come within 15 minutes. */
  readonly requests: number;
}

export interface PatternFold {
  /**
   * Processes the next step, in the order of results. Implementations must not keep `step` objects; they may keep small values.
   * @returns the patterns seen in this step; usually undefined or empty
   */
  observe(step: Step, context: StepContext): readonly Sighting[] | undefined;
  /**
   * Processes a text of the agent: an answer or its visible thinking. Optional. The text must not be kept, only small values.
   * @returns the patterns seen in this text
   */
  read?(text: string, place: TextPlace): readonly Sighting[] | undefined;
  /** Returns the state as JSON. `start(snapshot())` continues from the same state. */
  snapshot(): Json;
}

/**
 * Detects one kind of pattern. Users can write custom detectors: plain objects with a name and a `start` function. A detector that
 * throws is disabled for the rest of the run and reported. Other detectors continue.
 */
export interface PatternDetector {
  /** Must be unique among the detectors of an analysis. */
  readonly name: string;
  /** Starts a run, or continues a run from a snapshot of the same detector. */
  start(snapshot?: Json): PatternFold;
}

/** Number of most recent calls that keep their `comparison`. This limits the size of the snapshot. */
export const COMPARED_CALLS = 32;

/** The keys and hashes used to compare two calls. */
export interface CallComparison {
  /** Equal for calls of the same tool with the same arguments. */
  readonly argsKey: string;
  /** Equal for results that differ only in times and ids. */
  readonly resultKey: string;
  /** Hashes of the words in the arguments, in ascending order, at most 64. See `similarity`. */
  readonly tokens: readonly number[];
}

/** A summary of a recent call. Contains properties and keys, but no content. */
export interface RecentCall extends Pick<Step, 'index' | 'turn' | 'tool' | 'kind' | 'atMs' | 'resultChars'> {
  /** True only for the outcome `failed`. */
  readonly failed: boolean;
  /** `refused` or `cancelled`; absent for any other call. */
  readonly outcome?: Exclude<CallOutcome, 'ok' | 'failed'>;
  /** The error line, at most 200 characters. */
  readonly errorLine?: string;
  readonly novel: boolean;
  /** Present only for the 32 most recent calls. */
  readonly comparison?: CallComparison;
}

export function recentCallOf(step: Step, novel: boolean, failed: boolean): RecentCall {
  const { index, turn, tool, kind, atMs, resultChars, failure, outcome } = step;
  const comparison = { argsKey: step.argsKey, resultKey: step.resultKey, tokens: step.tokens };
  // Avoids object spread, which is slower. This code runs once per call.
  const call: Mutable<RecentCall> = { index, turn, tool, kind, failed, novel, atMs, resultChars, comparison };
  if (failure !== undefined) call.errorLine = failure.line;
  if (outcome === 'refused' || outcome === 'cancelled') call.outcome = outcome;
  return call;
}

export function withoutComparison(call: RecentCall): RecentCall {
  // Copies each field explicitly: a rest pattern takes several times as long. This code runs once per call.
  const { index, turn, tool, kind, failed, novel, atMs, resultChars, errorLine, outcome } = call;
  const copy: Mutable<RecentCall> = { index, turn, tool, kind, failed, novel, atMs, resultChars };
  if (errorLine !== undefined) copy.errorLine = errorLine;
  if (outcome !== undefined) copy.outcome = outcome;
  return copy;
}

const PACKED = [
  'index',
  'turn',
  'tool',
  'kind',
  'failed',
  'novel',
  'atMs',
  'resultChars',
  'errorLine',
  'outcome',
  'comparison',
] as const satisfies readonly (keyof RecentCall)[];

/** The values of a `RecentCall` for snapshots, null for an absent one. Field names would double the size of the JSON. */
export type PackedCall = readonly (RecentCall[keyof RecentCall] | null)[];

export function packCall(call: RecentCall): PackedCall {
  return PACKED.map((field) => call[field] ?? null);
}

export function unpackCall(packed: PackedCall): RecentCall {
  const entries = PACKED.map((field, at) => [field, packed[at] ?? null] as const);
  // `packCall` wrote the values in this order.
  return Object.fromEntries(entries.filter(([, value]) => value !== null)) as unknown as RecentCall;
}
