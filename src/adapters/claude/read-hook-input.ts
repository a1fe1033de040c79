import { assertNever } from '../../core/base/error.ts';
import { textOrUndefined, isJsonObject, type Json } from '../../core/base/json.ts';
import { taskIn } from '../../formats/claude-code/claude-code-entry.ts';
import { failedEnding } from '../../formats/claude-code/claude-ending.ts';
import { hostOutcome } from '../../core/facts/host-refusals.ts';
import type { CallOutcome } from '../../core/records/trajectory-record.ts';
import type { EndedCall, HostCall, HostEvent } from '../host/host-event.ts';
import { toolResultOf } from './tool-response.ts';

/**
 * The events of Claude Code that coxswain handles. `init` writes a hook for each, with a matcher for tools if `tools` is true.
 * `perCall`: the event comes with each call, and is needed only if no event follows the calls of an answer. `async`: nothing
 * answers the event, so Claude Code does not wait. `claudeHooks` has a callback for those with `inSdk`.
 */
export const HOOK_EVENTS = {
  SessionStart: { inSdk: true },
  UserPromptSubmit: { inSdk: true },
  PreToolUse: { inSdk: true, tools: true, perCall: true },
  PostToolUse: { inSdk: true, tools: true, perCall: true },
  PostToolUseFailure: { inSdk: true, tools: true, perCall: true },
  PostToolBatch: { inSdk: true },
  SubagentStart: { inSdk: true },
  SubagentStop: { inSdk: true },
  PreCompact: { inSdk: true },
  Stop: { inSdk: true },
  StopFailure: {},
  PermissionRequest: { tools: true },
  PermissionDenied: { tools: true, async: true },
  Notification: { async: true },
  SessionEnd: {},
} as const;

type Place = Pick<HostEvent, 'name' | 'sessionId' | 'agentId' | 'agentType'>;

/** Sources of prompts that count as user prompts. The program itself submits all others. */
const USER_SOURCES: ReadonlySet<unknown> = new Set(['user', 'sdk']);

/**
 * From a hook in process, or standard input. Undefined for an event that coxswain does not handle, or without its
 * required fields.
 *
 * @param toolUseId  id of the call, if the SDK passes it separately
 */
export function readHookInput(input: unknown, toolUseId?: string): HostEvent | undefined {
  if (!isJsonObject(input)) return undefined;
  const { hook_event_name: name } = input;
  if (typeof name !== 'string' || !isHandled(name)) return undefined;
  const place: Place = {
    name,
    ...optional('sessionId', textOrUndefined(input['session_id'])),
    ...optional('agentId', textOrUndefined(input['agent_id'])),
    ...optional('agentType', textOrUndefined(input['agent_type'])),
  };
  switch (name) {
    case 'SessionStart': {
      const source = textOrUndefined(input['source']) ?? 'startup';
      const isAfterCompaction = source === 'compact';
      const modelId = optional('modelId', textOrUndefined(input['model']));
      return { ...place, kind: 'session_started', source, isAfterCompaction, ...modelId };
    }
    case 'SessionEnd':
      return { ...place, kind: 'session_ended', reason: textOrUndefined(input['reason']) ?? 'other' };
    case 'StopFailure': {
      const text = textOrUndefined(input['last_assistant_message']) ?? '';
      return { ...place, kind: 'failed', ending: failedEnding({ error: input['error'], text }) };
    }
    case 'PermissionRequest':
    case 'PermissionDenied':
      return {
        ...place,
        kind: 'permission',
        isDenied: name === 'PermissionDenied',
        ...optional('toolName', textOrUndefined(input['tool_name'])),
      };
    case 'Notification':
      return input['notification_type'] === 'permission_prompt'
        ? { ...place, kind: 'permission', isDenied: false }
        : undefined;
    case 'UserPromptSubmit':
      return promptEvent(input, place);
    case 'PreCompact':
      return { ...place, kind: 'compacted', trigger: textOrUndefined(input['trigger']) ?? 'unspecified' };
    case 'SubagentStart':
      return place.agentId === undefined ? undefined : { ...place, kind: 'agent_started', agentId: place.agentId };
    case 'Stop':
    case 'SubagentStop': {
      const lastMessage = optional('lastMessage', textOrUndefined(input['last_assistant_message']));
      const isForced = input['stop_hook_active'] === true;
      return { ...place, kind: 'stopped', isSubagent: name === 'SubagentStop', isForced, ...lastMessage };
    }
    case 'PreToolUse': {
      const call = callOf(input, toolUseId);
      return call && { ...place, kind: 'call_issued', call };
    }
    case 'PostToolUse':
    case 'PostToolUseFailure': {
      const call = callOf(input, toolUseId);
      return call && { ...place, kind: 'call_ended', call: endedCall(call, input, name === 'PostToolUseFailure') };
    }
    case 'PostToolBatch': {
      const calls = input['tool_calls'];
      return Array.isArray(calls) ? { ...place, kind: 'batch_ended', calls: calls.flatMap(batchCall) } : undefined;
    }
    default:
      return assertNever(name);
  }
}

function isHandled(name: string): name is keyof typeof HOOK_EVENTS {
  return Object.hasOwn(HOOK_EVENTS, name);
}

/** Some versions do not send the source of the prompt. A notification of the program starts no task. */
function promptEvent(input: Readonly<Record<string, unknown>>, place: Place): HostEvent | undefined {
  const { prompt: text, source } = input;
  if (typeof text !== 'string') return undefined;
  const isUsers =
    textOrUndefined(source) === undefined ? !text.startsWith('<task-notification>') : USER_SOURCES.has(source);
  return { ...place, kind: 'prompted', text, role: isUsers ? 'user' : 'system', isTask: taskIn([text]) !== undefined };
}

function callOf(input: Readonly<Record<string, unknown>>, toolUseId?: string): HostCall | undefined {
  const id = textOrUndefined(input['tool_use_id']) ?? textOrUndefined(toolUseId);
  const name = textOrUndefined(input['tool_name']);
  return id === undefined || name === undefined ? undefined : { id, name, args: input['tool_input'] ?? {} };
}

function endedCall(call: HostCall, input: Readonly<Record<string, unknown>>, isError: boolean): EndedCall {
  const { error, tool_response: response, duration_ms: duration } = input;
  const message = typeof error === 'string' ? error : JSON.stringify(error ?? '');
  return {
    ...call,
    result: isError ? message : toolResultOf(response),
    isError,
    ...optional('durationMs', typeof duration === 'number' && Number.isFinite(duration) ? duration : undefined),
  };
}

/** Reads a call of a batch. Its result is the text that the model reads, whether the call ran or was refused. */
function batchCall(item: unknown): readonly EndedCall[] {
  const call = isJsonObject(item) ? callOf(item) : undefined;
  if (!isJsonObject(item) || call === undefined) return [];
  const result = toolResultOf(item['tool_response']);
  const { is_error: stated } = item;
  const isError = typeof stated === 'boolean' ? stated : readsAsFailure(result);
  return [{ ...call, result, isError, ...optional('outcome', outcomeIn(item)) }];
}

/** The texts by which Claude Code begins the result of a failed call. It sets no error flag in a batch; other hosts do. */
const FAILURE = /^(?:<tool_use_error>|Exit code \d|Error: )/;

/** Texts of refusals, and of failures that the output of a command resembles. */
const DOUBTFUL = /^(?:Error: )|denied|approv|want to|reject|block|hook|permission|cancel|interrupt/i;
const DOUBTFUL_CHARS = 500;

/** True if the result says for sure whether a call failed. Of 1,467 recorded results of shell calls one did not; of 2,989 others 29. */
export function tellsFailure({ name, result }: EndedCall): boolean {
  if (typeof result !== 'string') return false;
  return result.startsWith('<tool_use_error>') || (name === 'Bash' && !DOUBTFUL.test(result.slice(0, DOUBTFUL_CHARS)));
}

function readsAsFailure(result: Json): boolean {
  return (typeof result === 'string' && FAILURE.test(result)) || hostOutcome(result, 'claude-code') !== undefined;
}

export function outcomeIn({ outcome }: Readonly<Record<string, unknown>>): CallOutcome | undefined {
  return outcome === 'refused' || outcome === 'cancelled' ? outcome : undefined;
}

function optional<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [Key in Name]?: Value } {
  // The computed name is the only field of the type.
  return value === undefined ? {} : ({ [name]: value } as { readonly [Key in Name]?: Value });
}
