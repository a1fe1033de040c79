import type { Step } from './step.ts';
import type { ToolKind } from '../calls/tool-kind.ts';

/** Newest calls that keep their `comparison`; it bounds the snapshot. */
export const COMPARED_CALLS = 32;

/** Keys and hashes by which two calls are compared. */
interface CallComparison {
  /** Equal for calls of one tool with equal arguments. */
  readonly argsKey: string;
  /** Equal for results that differ only in times and ids. */
  readonly resultKey: string;
  /** Hashes of the words of the arguments, ascending, 64 at most; see `similarity`. */
  readonly tokens: readonly number[];
}

/** A call in the memory of the analysis: facts and keys, no content. */
export interface RecentCall {
  readonly index: number;
  readonly turn: number;
  readonly tool: string;
  readonly kind: ToolKind;
  readonly failed: boolean;
  /** The line that says what failed, at most 200 characters. */
  readonly errorLine?: string;
  readonly novel: boolean;
  readonly atMs: number;
  /** Length of the result's text in UTF-16 units. */
  readonly resultChars: number;
  /** Kept for the newest 32 calls only. */
  readonly comparison?: CallComparison;
}

/** The memory of a step. */
export function recentCallOf(step: Step, novel: boolean, flagged: boolean): RecentCall {
  const { index, turn, tool, kind, atMs, resultChars, failure } = step;
  const comparison = { argsKey: step.argsKey, resultKey: step.resultKey, tokens: step.tokens };
  // No spread, which is slower: this runs once per call.
  return failure === undefined
    ? { index, turn, tool, kind, failed: flagged, novel, atMs, resultChars, comparison }
    : { index, turn, tool, kind, failed: flagged, errorLine: failure.line, novel, atMs, resultChars, comparison };
}

/** The call without its comparison. */
export function withoutComparison(call: RecentCall): RecentCall {
  // Member by member: a rest pattern takes several times as long, and this runs once a call.
  const { index, turn, tool, kind, failed, novel, atMs, resultChars, errorLine } = call;
  return errorLine === undefined
    ? { index, turn, tool, kind, failed, novel, atMs, resultChars }
    : { index, turn, tool, kind, failed, errorLine, novel, atMs, resultChars };
}

/** A `RecentCall` in a snapshot, without member names, which are half of its JSON. */
export type PackedCall = readonly [
  index: number,
  turn: number,
  tool: string,
  kind: ToolKind,
  /** 1 for a failed call, 2 for a novel one, 3 for both. */
  marks: number,
  atMs: number,
  resultChars: number,
  errorLine: string | null,
  comparison?: readonly [argsKey: string, resultKey: string, tokens: readonly number[]],
];

export function packCall(call: RecentCall): PackedCall {
  const { index, turn, tool, kind, failed, novel, atMs, resultChars, errorLine = null, comparison } = call;
  const marks = (failed ? 1 : 0) + (novel ? 2 : 0);
  if (comparison === undefined) return [index, turn, tool, kind, marks, atMs, resultChars, errorLine];
  const { argsKey, resultKey, tokens } = comparison;
  return [index, turn, tool, kind, marks, atMs, resultChars, errorLine, [argsKey, resultKey, tokens]];
}

export function unpackCall(packed: PackedCall): RecentCall {
  const [index, turn, tool, kind, marks, atMs, resultChars, errorLine, compared] = packed;
  const call = { index, turn, tool, kind, failed: (marks & 1) !== 0, novel: (marks & 2) !== 0, atMs, resultChars };
  const [argsKey, resultKey, tokens] = compared ?? [];
  return {
    ...call,
    ...(errorLine === null ? {} : { errorLine }),
    ...(argsKey === undefined || resultKey === undefined || tokens === undefined
      ? {}
      : { comparison: { argsKey, resultKey, tokens } }),
  };
}
