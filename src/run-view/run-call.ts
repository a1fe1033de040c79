import type { Json } from '../base/json.ts';
import type { ToolKind } from '../calls/tool-kind.ts';
import { makeStep } from '../patterns/step.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';

/** A call of a run, joined to its result. */
export interface RunCall {
  /** From 1, in the order in which calls began. Patterns on record name calls by index: their number less 1. */
  readonly number: number;
  readonly id: string;
  readonly tool: string;
  /** As the analysis read call and result; absent while it is open, and where nothing is analysed: then `readCall` knows it. */
  readonly kind?: ToolKind;
  /** Null where the start was lost. */
  readonly args: Json;
  /** `seq` of its start; where that was lost, of its result. */
  readonly seq: number;
  /** `seq` of its result; absent while it is open. */
  readonly endSeq?: number;
  /** The record of its start was lost. */
  readonly startLost: boolean;
  /** Its result says that it failed. */
  readonly failed: boolean;
  /** Its source holds no result of it, and says so. */
  readonly resultMissing: boolean;
  /** The line that says what failed, as the analysis read it; at most 200 characters. `errorLineOf` finds it without one. */
  readonly errorLine?: string;
}

/**
 * The line that says why a call failed; at most 200 characters, undefined for a call that did not fail or says nothing.
 *
 * @param record  of its result
 * Cost: where nothing was analysed, reads the result as the analysis does.
 */
export function errorLineOf(call: RunCall, { payload }: TrajectoryRecord): string | undefined {
  const { args, errorLine, failed, kind, number, tool } = call;
  if (kind !== undefined || !failed || payload.kind !== 'tool_ended') return errorLine;
  const { result } = payload;
  const read = { index: number - 1, turn: 0, atMs: 0, tool, args, result, isError: true, resultMissing: false };
  return makeStep(read, {}).failure?.line;
}
