import { toJson } from '../../base/to-json.ts';
import type { AgentEvent } from '../../records/agent-event.ts';
import type { BatchCall, HookCall, HookInput } from './read-hook-input.ts';
import { toolResultOf } from './tool-response.ts';

/**
 * A prompt was given. What the program itself submits is no word of a user: it begins nothing anew.
 *
 * @param source who gave it, as far as the SDK tells
 */
export function promptEvent(prompt: string, source?: string): AgentEvent {
  const isUsers = source === undefined ? !prompt.startsWith('<task-notification>') : USER_SOURCES.has(source);
  return { type: 'message_end', message: { role: isUsers ? 'user' : 'system', content: prompt } };
}

/** Where a prompt that a user gave comes from. */
const USER_SOURCES: ReadonlySet<string> = new Set(['user', 'sdk']);

/** The model asked for a call. */
export function callStarted({ id, name, args }: HookCall): AgentEvent {
  return { type: 'tool_execution_start', toolCallId: id, toolName: name, args };
}

/** A call came back, or failed. */
export function callEnded(
  input: Extract<HookInput, { readonly event: 'PostToolUse' | 'PostToolUseFailure' }>,
): AgentEvent {
  const failed = input.event === 'PostToolUseFailure';
  return {
    type: 'tool_execution_end',
    toolCallId: input.call.id,
    toolName: input.call.name,
    result: failed ? input.error : toolResultOf(input.response),
    isError: failed,
    ...(input.durationMs === undefined ? {} : { durationMs: input.durationMs }),
  };
}

/** A call that never ran: denied, of no known tool, or with arguments that do not fit. The model reads why. */
export function callRefused({ id, name, response }: BatchCall): AgentEvent {
  return { type: 'tool_execution_end', toolCallId: id, toolName: name, result: toolResultOf(response), isError: true };
}

/** A call that was cut off: nothing will be told of it any more. */
export function callCutOff({ id, name }: HookCall): AgentEvent {
  const result = 'no result was reported';
  return { type: 'tool_execution_end', toolCallId: id, toolName: name, result, isError: false, resultMissing: true };
}

/** An answer of which only the text is known. */
export function answerEvent(text: string): AgentEvent {
  return { type: 'message_end', message: { role: 'assistant', content: text } };
}

/** What has no name here is kept as it came. @param what `hook` or `message` */
export function unrecognisedEvent(what: 'hook' | 'message', value: unknown): AgentEvent {
  return { type: 'unrecognised', original: { kind: `claude-agent-sdk/${what}`, value: toJson(value) } };
}
