import { isJsonObject } from '../../base/json.ts';

/** A tool call as hooks tell of it. */
export interface HookCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

/** Where a hook was called. */
interface HookPlace {
  /** Absent only where the SDK leaves it out. */
  readonly sessionId?: string;
  /** The subagent; absent on the main thread. */
  readonly agentId?: string;
  readonly agentType?: string;
}

/** The input of a hook, as far as it is read. Discriminated on `event`, the SDK's `hook_event_name`. */
export type HookInput = HookPlace &
  (
    | { readonly event: 'SessionStart'; readonly source: string; readonly modelId?: string }
    | { readonly event: 'SessionEnd'; readonly reason: string }
    /** `source` says who gave the prompt; not every version has it. */
    | { readonly event: 'UserPromptSubmit'; readonly prompt: string; readonly source?: string }
    | { readonly event: 'PreToolUse'; readonly call: HookCall }
    | {
        readonly event: 'PostToolUse';
        readonly call: HookCall;
        readonly response: unknown;
        readonly durationMs?: number;
      }
    | {
        readonly event: 'PostToolUseFailure';
        readonly call: HookCall;
        readonly error: string;
        readonly durationMs?: number;
      }
    | { readonly event: 'PostToolBatch'; readonly calls: readonly BatchCall[] }
    | { readonly event: 'Stop' | 'SubagentStop'; readonly isForced: boolean; readonly lastMessage?: string }
    | { readonly event: 'SubagentStart'; readonly agentId: string }
    | { readonly event: 'PreCompact'; readonly trigger: string }
  );

/** A call of a batch and what the model is shown as its result, whether it ran or was refused. */
export interface BatchCall extends HookCall {
  readonly response: unknown;
}

/**
 * The input of a hook, in process or on the standard input of a command. Fields that are not known are passed over.
 *
 * @param toolUseId  the call, where the SDK hands it over beside the input
 * @returns undefined for an event that is not listened to, or one without what it must have
 */
export function readHookInput(input: unknown, toolUseId?: string): HookInput | undefined {
  if (!isJsonObject(input)) return undefined;
  const place: HookPlace = {
    ...optional('sessionId', wordOf(input['session_id'])),
    ...optional('agentId', wordOf(input['agent_id'])),
    ...optional('agentType', wordOf(input['agent_type'])),
  };
  switch (input['hook_event_name']) {
    case 'SessionStart': {
      const source = wordOf(input['source']) ?? 'startup';
      return { ...place, event: 'SessionStart', source, ...optional('modelId', wordOf(input['model'])) };
    }
    case 'SessionEnd':
      return { ...place, event: 'SessionEnd', reason: wordOf(input['reason']) ?? 'other' };
    case 'UserPromptSubmit': {
      const prompt = input['prompt'];
      if (typeof prompt !== 'string') return undefined;
      return { ...place, event: 'UserPromptSubmit', prompt, ...optional('source', wordOf(input['source'])) };
    }
    case 'PreCompact':
      return { ...place, event: 'PreCompact', trigger: wordOf(input['trigger']) ?? 'unspecified' };
    case 'SubagentStart':
      return place.agentId === undefined ? undefined : { ...place, event: 'SubagentStart', agentId: place.agentId };
    case 'Stop':
    case 'SubagentStop': {
      const event = input['hook_event_name'];
      const isForced = input['stop_hook_active'] === true;
      return { ...place, event, isForced, ...optional('lastMessage', wordOf(input['last_assistant_message'])) };
    }
    case 'PostToolBatch': {
      const calls = input['tool_calls'];
      return Array.isArray(calls) ? { ...place, event: 'PostToolBatch', calls: calls.flatMap(batchCall) } : undefined;
    }
    default: {
      const read = callInput(input, toolUseId);
      return read === undefined ? undefined : { ...place, ...read };
    }
  }
}

/** The events of one call. */
function callInput(input: Readonly<Record<string, unknown>>, toolUseId: string | undefined): CallInput | undefined {
  const call = callOf(input, toolUseId);
  if (call === undefined) return undefined;
  const duration = input['duration_ms'];
  const durationMs = typeof duration === 'number' && Number.isFinite(duration) ? duration : undefined;
  switch (input['hook_event_name']) {
    case 'PreToolUse':
      return { event: 'PreToolUse', call };
    case 'PostToolUse':
      return { event: 'PostToolUse', call, response: input['tool_response'], ...optional('durationMs', durationMs) };
    case 'PostToolUseFailure': {
      const error = typeof input['error'] === 'string' ? input['error'] : JSON.stringify(input['error'] ?? '');
      return { event: 'PostToolUseFailure', call, error, ...optional('durationMs', durationMs) };
    }
    default:
      return undefined;
  }
}

type CallInput = Extract<HookInput, { readonly call: HookCall }>;

function callOf(input: Readonly<Record<string, unknown>>, toolUseId?: string): HookCall | undefined {
  const id = wordOf(input['tool_use_id']) ?? wordOf(toolUseId);
  const name = wordOf(input['tool_name']);
  return id === undefined || name === undefined ? undefined : { id, name, args: input['tool_input'] ?? {} };
}

function batchCall(item: unknown): readonly BatchCall[] {
  const call = isJsonObject(item) ? callOf(item) : undefined;
  return isJsonObject(item) && call !== undefined ? [{ ...call, response: item['tool_response'] }] : [];
}

/** A text that is not empty. */
function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The member, where there is a value. */
function optional<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [Key in Name]?: Value } {
  // The computed name is the type's one member.
  return value === undefined ? {} : ({ [name]: value } as { readonly [Key in Name]?: Value });
}
