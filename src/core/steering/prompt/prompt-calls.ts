import { invalidArgument } from '../../base/error.ts';
import type { Session } from '../../session/session.ts';
import { ToolCallCount, toolCallCount, ToolInvoked } from '../../session/tool-invoked.ts';
import type { Mutable, Json } from '../../base/json.ts';
import type { CallOutcome } from '../../records/trajectory-record.ts';
import type { ErrorCategory } from '../../detect/calls/error-class.ts';
import { makeStep } from '../../detect/patterns/step.ts';

/** The prompt name of a call without a prompt. Such a call counts under every prompt. */
const NO_PROMPT = '';

/** Returns the exact number of tool calls of a prompt. Cost: O(prompts used). */
export function promptCallCount(session: Session, promptName: string): number {
  const counts = session.slice(ToolCallCount);
  const ownCount = toolCallCount(counts, promptName);
  return promptName === NO_PROMPT ? ownCount : ownCount + toolCallCount(counts, NO_PROMPT);
}

/** Oldest first. Throws CoxswainError "invalid-argument" outside 0 to `ToolInvoked.retain`. Cost: O(count) to O(retained). */
export function promptCalls(session: Session, promptName: string, count: number): readonly ToolInvoked[] {
  if (!Number.isInteger(count) || count < 0 || count > ToolInvoked.retain) {
    throw invalidArgument(
      `a window of tool calls is a whole number from 0 to ${ToolInvoked.retain} (calls retained), got ${count}`,
      { details: { count, retain: ToolInvoked.retain } },
    );
  }
  if (count === 0) return [];
  const isInPrompt = (call: ToolInvoked): boolean => call.promptName === promptName || call.promptName === NO_PROMPT;
  const view = session.slice(ToolInvoked);
  const newest = view.last(count);
  return newest.every(isInPrompt) ? newest : view.all().filter(isInPrompt).slice(-count);
}

/** A finished call in the form that providers receive. Redacted plain JSON of about a kilobyte at most. */
export interface SeenCall {
  readonly tool: string;
  /** The argument that the call is about, such as a path. */
  readonly target?: string;
  /** Long texts in the arguments are cut. */
  readonly args: Json;
  /** The result. A long result is reduced to its beginning and end. */
  readonly result: string;
  /** UTF-16 units of the whole result. */
  readonly resultChars: number;
  /** True only for the outcome `failed`. */
  readonly failed: boolean;
  readonly outcome: CallOutcome;
  /** The cause of the failure, classified from the result. Absent for a success. */
  readonly cause?: ErrorCategory;
  /** The line of the result that states the failure, at most 200 characters. */
  readonly errorLine?: string;
  /** 0-based index among the calls of the session. */
  readonly callIndex: number;
  /** Unix milliseconds of the end of the call. */
  readonly atMs: number;
}

// A cache. A classifier reads the same few calls at every decision point, and reading a call takes as long as analysing it.
const seenCalls = new WeakMap<ToolInvoked, SeenCall>();

/** Returns a call of the session in the form that providers receive. Live runs and replays give the same result. */
export function callOf(invoked: ToolInvoked): SeenCall {
  const seenCall = seenCalls.get(invoked);
  if (seenCall !== undefined) return seenCall;
  const call = readInvoked(invoked);
  seenCalls.set(invoked, call);
  return call;
}

function readInvoked(invoked: ToolInvoked): SeenCall {
  const { atMs, callIndex, name: tool, resultPreview: result, resultChars = result.length, success } = invoked;
  const { outcome = success ? 'ok' : 'failed' } = invoked;
  const args = argsOf(invoked);
  const { failure, target } = makeStep(
    { index: callIndex, turn: callIndex, atMs, tool, args, result, isError: !success, outcome, resultMissing: false },
    {},
  );
  const failed = outcome === 'failed';
  const call: Mutable<SeenCall> = { tool, args, result, resultChars, failed, outcome, callIndex, atMs };
  if (target !== undefined) call.target = target;
  if (failed && failure !== undefined) {
    call.cause = failure.category;
    call.errorLine = failure.line;
  }
  return call;
}

export function argsOf({ paramsPreview }: ToolInvoked): Json {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(paramsPreview) as Json;
  } catch {
    // A snapshot of an earlier version contains a cut text.
    return paramsPreview;
  }
}
