import type { Mutable } from '../../base/mutable.ts';
import type { Json } from '../../base/json.ts';
import type { ErrorCategory } from '../../calls/error-class.ts';
import { makeStep } from '../../patterns/step.ts';
import type { ToolInvoked } from '../../session/tool-invoked.ts';

/** A call as providers see it. Plain JSON of about a kilobyte at most, after redaction. */
export interface SeenCall {
  readonly tool: string;
  /** What the call is about, such as a path, where an argument names it. */
  readonly target?: string;
  /** The arguments; where they are long, each text in them is cut. */
  readonly args: Json;
  /** The result as text; where it is long, its beginning and its end. */
  readonly result: string;
  /** UTF-16 units of the whole result. */
  readonly resultChars: number;
  readonly failed: boolean;
  /** Why it failed, as far as the words of its result tell; absent where it did not. */
  readonly cause?: ErrorCategory;
  /** The line that says what failed, at most 200 characters. */
  readonly errorLine?: string;
  /** 0-based position among the calls of the session. */
  readonly callIndex: number;
  /** Unix milliseconds when it came back. */
  readonly atMs: number;
}

/** A call of the session as providers see it. The same live and in a replay. */
export function callOf(invoked: ToolInvoked): SeenCall {
  const { atMs, callIndex, name: tool, resultPreview: result, resultChars = result.length, success } = invoked;
  const args = argsOf(invoked);
  const { failure, target } = makeStep(
    { index: callIndex, turn: callIndex, atMs, tool, args, result, isError: !success, resultMissing: false },
    {},
  );
  const call: Mutable<SeenCall> = { tool, args, result, resultChars, failed: !success, callIndex, atMs };
  if (target !== undefined) call.target = target;
  if (!success && failure !== undefined) {
    call.cause = failure.category;
    call.errorLine = failure.line;
  }
  return call;
}

function argsOf({ paramsPreview }: ToolInvoked): Json {
  try {
    // What JSON.parse gives of a text is JSON.
    return JSON.parse(paramsPreview) as Json;
  } catch {
    // A snapshot of an earlier version holds the beginning alone.
    return paramsPreview;
  }
}
