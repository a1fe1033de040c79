import type { AdviceHandle } from '../../core/run/advice-handle.ts';
import { messageOf } from '../../core/base/error.ts';
import { statedOutcome } from '../../core/run/refusal.ts';
import type { Conversation } from './conversation.ts';
import type { CallResult, IssuedCall } from './issued-call.ts';
import type { OpenCall } from './open-calls.ts';
import type { Guard } from './guarded.ts';
import { troubleOf } from './run-outcome.ts';
import type { RunScope } from './run-scope.ts';

export interface ToolParts {
  readonly scope: RunScope;
  readonly guard: Guard;
  readonly conversation: (call: IssuedCall) => Conversation;
  /** `throw`: an error of a tool is rethrown. `result`: the error becomes the tool's result. */
  readonly onToolError: 'throw' | 'result';
  /** Returns true if the SDK marks a returned result as a failure. Default: never. */
  readonly isError?: (result: unknown) => boolean;
}

export interface ToolWork {
  readonly call: IssuedCall;
  /** The other calls in the model's message, if known. */
  readonly beside?: readonly IssuedCall[];
  readonly run: () => unknown;
  /** Returns true if the user aborted. The error is then rethrown. Default: never. */
  readonly isAborted?: () => boolean;
  /** Returns true if feedback can be added to this result. Otherwise the feedback is sent with the next request. Default: always. */
  readonly carries?: (result: unknown) => boolean;
}

export interface ToolReturn {
  readonly result: unknown;
  readonly feedback: string | undefined;
  /** The error of a tool whose error is the result. */
  readonly thrown?: { readonly error: unknown };
}

const CHANNEL = 'tool-result';
const WHERE = 'tool';

/** Runs a tool and records the call. Its requests belong to a child run. Throws its error under `throw` or after an abort. */
export async function runTool(parts: ToolParts, work: ToolWork): Promise<ToolReturn> {
  const { guard, scope } = parts;
  const { call, carries = () => true, isAborted = () => false } = work;
  const conversation = parts.conversation(call);
  const open = guard<OpenCall | undefined>(WHERE, () => beginCall(conversation, work));
  const adviceText = (handles: readonly AdviceHandle[], result: unknown): string | undefined =>
    guard(WHERE, () => {
      if (carries(result)) return conversation.said(handles, CHANNEL);
      conversation.later(handles);
      return undefined;
    });
  let result: unknown;
  try {
    result = await scope.within(conversation.run, call.name, work.run);
  } catch (error) {
    const failed = {
      result: messageOf(error),
      isError: true,
      outcome: statedOutcome(error) ?? (isAborted() ? 'cancelled' : undefined),
    } as const;
    const handles = guard(WHERE, () => endCall(conversation, open, failed), []);
    if (parts.onToolError === 'result' && !isAborted()) {
      const text = error instanceof Error ? String(error) : messageOf(error);
      return { result: text, feedback: adviceText(handles, text), thrown: { error } };
    }
    guard(WHERE, () => endThrown(conversation, handles, error));
    throw error;
  }
  await conversation.run.ready();
  const hasFailed = guard(WHERE, () => parts.isError?.(result) === true, false);
  const handles = guard(WHERE, () => endCall(conversation, open, { result, isError: hasFailed }), []);
  return { result, feedback: adviceText(handles, result) };
}

/** @returns feedback on the call */
export function refusedArgs(parts: ToolParts, call: IssuedCall, error: unknown): string | undefined {
  return parts.guard(WHERE, () => {
    const conversation = parts.conversation(call);
    const open = beginCall(conversation, { call });
    return conversation.said(endCall(conversation, open, { result: messageOf(error), isError: true }), CHANNEL);
  });
}

function beginCall(conversation: Conversation, { call, beside = [] }: Pick<ToolWork, 'call' | 'beside'>): OpenCall {
  conversation.issued(beside);
  const open = conversation.callOf(call);
  conversation.started(open);
  return open;
}

function endCall(conversation: Conversation, open: OpenCall | undefined, result: CallResult): readonly AdviceHandle[] {
  return open === undefined ? [] : conversation.ended(open, result);
}

function endThrown(conversation: Conversation, handles: readonly AdviceHandle[], error: unknown): void {
  conversation.later(handles);
  conversation.troubled(troubleOf(error));
}
