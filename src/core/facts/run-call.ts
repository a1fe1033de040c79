import type { Json } from '../base/json.ts';
import type { ToolKind } from '../detect/calls/tool-kind.ts';
import { makeStep } from '../detect/patterns/step.ts';
import type { RecentCall } from '../detect/patterns/recent-call.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';

/** A call of a run, together with its result. */
export interface RunCall {
  /** 1-based number in order of start. Recorded patterns refer to calls by a 0-based index. */
  readonly number: number;
  readonly id: string;
  readonly tool: string;
  /**
   * The kind according to the analysis. Absent while the call is open, and if there is no analysis; in that case use
   * `readCall`.
   */
  readonly kind?: ToolKind;
  /** Null if the record of the start was lost. */
  readonly args: Json;
  /** `seq` of the record that started the call. If that record was lost, `seq` of its result. */
  readonly seq: number;
  /** `seq` of the result; absent while the call is open. */
  readonly endSeq?: number;
  /** True if the record of its start was lost. */
  readonly startLost: boolean;
  /** True if its result is an error, and the call was neither refused nor cancelled. */
  readonly failed: boolean;
  /** `refused` or `cancelled`; absent for any other call. */
  readonly outcome?: RecentCall['outcome'];
  /** True if the source states that it contains no result. */
  readonly resultMissing: boolean;
  /**
   * The line of the result that states the failure, according to the analysis; at most 200 characters. `errorLineOf` finds
   * it without an analysis.
   */
  readonly errorLine?: string;
}

/**
 * Returns the line that states why a call failed, at most 200 characters. Returns undefined for a successful call, or if
 * there is no such line.
 *
 * @param record  the record of the result
 *
 * Cost: without an analysis, reads the result as the analysis does.
 */
export function errorLineOf(call: RunCall, { payload }: TrajectoryRecord): string | undefined {
  const { args, errorLine, failed, kind, number, tool } = call;
  if (kind !== undefined || !failed || payload.kind !== 'tool_ended') return errorLine;
  const { result } = payload;
  const recentCall = { index: number - 1, turn: 0, atMs: 0, tool, args, result, isError: true, resultMissing: false };
  return makeStep(recentCall, {}).failure?.line;
}
