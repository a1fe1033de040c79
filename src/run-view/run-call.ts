import type { Json } from '../base/json.ts';
import type { ToolKind } from '../calls/tool-kind.ts';
import { makeStep } from '../patterns/step.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';

/** A call of a run, joined with its result. */
export interface RunCall {
  /** 1-based, in order of start. Recorded patterns name calls by index, which is one less. */
  readonly number: number;
  readonly id: string;
  readonly tool: string;
  /** The kind as analysed; absent while the call is open, and without an analysis: then use `readCall`. */
  readonly kind?: ToolKind;
  /** Null if the start was lost. */
  readonly args: Json;
  /** `seq` of its start; if lost, of its result. */
  readonly seq: number;
  /** `seq` of its result; absent while it is open. */
  readonly endSeq?: number;
  /** True if the record of its start was lost. */
  readonly startLost: boolean;
  /** True if its result is an error. */
  readonly failed: boolean;
  /** True if its source states that it holds no result. */
  readonly resultMissing: boolean;
  /** The line of the result that states the failure, as analysed; at most 200 characters. `errorLineOf` finds it without an analysis. */
  readonly errorLine?: string;
}

/**
 * The line that states why a call failed; at most 200 characters, undefined for a successful call or without such a line.
 *
 * @param record  the result's record
 * Cost: without an analysis, reads the result as the analysis does.
 */
export function errorLineOf(call: RunCall, { payload }: TrajectoryRecord): string | undefined {
  const { args, errorLine, failed, kind, number, tool } = call;
  if (kind !== undefined || !failed || payload.kind !== 'tool_ended') return errorLine;
  const { result } = payload;
  const read = { index: number - 1, turn: 0, atMs: 0, tool, args, result, isError: true, resultMissing: false };
  return makeStep(read, {}).failure?.line;
}
