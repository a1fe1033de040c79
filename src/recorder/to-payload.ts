import { present } from '../base/present.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { AgentEvent, AgentIdentity } from '../records/agent-event.ts';
import type { AgentMessage, ContentBlock, MessageContent, Usage } from '../records/agent-message.ts';
import type { EmittedKind, EventOf, PayloadOf } from '../records/field-types.ts';
import { fieldsOf, isEmitted, isKnownKind } from '../records/kind-definition.ts';
import type { RunIdentity, TrajectoryPayload } from '../records/trajectory-record.ts';
import type { StoredContent, StoredContentBlock, StoredMessage, StoredUsage } from '../records/stored-message.ts';

/**
 * The payload of an event; undefined for a streaming delta and for `agent_start`, which only resets a stream. This function
 * only changes names. The values come from the host and match the types only after `repairPayload`. An event of an unknown
 * type becomes `unrecognised`.
 *
 * Cost: O(parts of the event).
 */
export function toPayload(event: AgentEvent): TrajectoryPayload | undefined {
  switch (event.type) {
    case 'agent_start':
    case 'message_start':
    case 'message_update':
    case 'tool_execution_update':
      return undefined;
    case 'run_identified':
      return {
        kind: 'run_identified',
        ...present({
          conversation_id: event.identity.conversationId,
          agent_name: event.identity.agentName,
          model_id: event.identity.modelId,
        }),
      };
    case 'agent_end':
      return {
        kind: 'run_ended',
        outcome: event.outcome ?? 'ended',
        new_messages: mapList(event.messages, toStoredMessage),
        ...present({ reason: event.reason, success: event.success, reward: event.reward, labels: event.labels }),
      };
    case 'completion_checked':
      return {
        kind: 'completion_checked',
        met: event.met,
        missing: event.missing,
        attempt: event.attempt,
        ...(event.gaveUp === true ? { gave_up: true } : {}),
      };
    case 'turn_start':
      return { kind: 'turn_started' };
    case 'turn_end':
      return {
        kind: 'turn_ended',
        assistant: toStoredMessage(event.message),
        tool_results: mapList(event.toolResults, toStoredMessage),
      };
    case 'message_end':
      return { kind: 'message_appended', message: toStoredMessage(event.message) };
    case 'tool_execution_start':
      return {
        kind: 'tool_started',
        tool_call_id: event.toolCallId,
        tool_name: event.toolName,
        args: asJson(event.args),
        ...present({ annotations: event.annotations }),
      };
    case 'tool_execution_end':
      return {
        kind: 'tool_ended',
        tool_call_id: event.toolCallId,
        tool_name: event.toolName,
        result: asJson(event.result),
        is_error: event.isError,
        ...present({ duration_ms: event.durationMs }),
        ...(event.resultMissing === true ? { result_missing: true } : {}),
      };
    case 'unrecognised':
      return { kind: 'unrecognised', original: foreign(event.original) };
    case 'provider_request_prepared':
      return {
        kind: 'provider_request_prepared',
        iteration: event.iteration,
        model_id: event.modelId ?? null,
        system_prompt_chars: charactersOf(event.systemPrompt),
        message_count: lengthOf(event.messages),
        tool_count: lengthOf(event.tools),
        tools: mapList(event.tools, (tool) => tool.name),
      };
    case 'context_transform_applied':
      return {
        kind: 'context_transform_applied',
        iteration: event.iteration,
        plugin: event.plugin,
        before_count: lengthOf(event.before),
        after_count: lengthOf(event.after),
      };
    case 'output_tokens_escalation':
      return {
        kind: 'output_tokens_escalation',
        attempt: event.attempt,
        prev_cap: event.previousCap,
        new_cap: event.newCap,
      };
    default:
      return sameFields(event);
  }
}

/** Handles an event with the fields of its record, and an event from a newer host or from JavaScript. */
function sameFields(event: EventOf<EmittedKind>): TrajectoryPayload {
  const { type, ...values }: { readonly type: string } & Readonly<Record<string, unknown>> = event;
  if (!isEmitted(type)) {
    return { kind: 'unrecognised', original: { kind: 'unrecognised_event', event: asJson(event) } };
  }
  const fields = Object.keys(fieldsOf(type)).map((name) => [name, values[camelCase(name)]] as const);
  // The type of the event is made from the same definition.
  return { kind: type, ...present(Object.fromEntries(fields)) } as PayloadOf<EmittedKind>;
}

function camelCase(name: string): string {
  return name.replaceAll(/_(.)/g, (_all, letter: string) => letter.toUpperCase());
}

/** A host's value, which is JSON only after `repairPayload`. */
function asJson(value: unknown): Json {
  return value as Json;
}

/** Maps a list. Any other value is returned unchanged, because `repairPayload` repairs it. */
function mapList<Item, Made>(items: readonly Item[] | undefined, change: (item: Item) => Made): readonly Made[] {
  // `repairPayload` repairs a value that is not a list.
  return Array.isArray(items) ? items.map(change) : ((items ?? []) as readonly never[]);
}

function lengthOf(value: { readonly length: number } | undefined | null): number {
  return value?.length ?? 0;
}

/** Counts characters, not UTF-16 units. */
function charactersOf(text: string): number {
  if (typeof text !== 'string') return 0;
  return text.length - (text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0);
}

/** Wraps an event that has no kind, or has a kind of coxswain. Such an event could not be read back as `unrecognised`. */
function foreign(original: JsonObject): JsonObject {
  const { kind } = isJsonObject(original) ? original : {};
  return typeof kind === 'string' && !isKnownKind(kind) ? original : { kind: 'unrecognised_event', event: original };
}

export function toStoredIdentity(identity: AgentIdentity): RunIdentity {
  return {
    run_id: identity.runId,
    ...present({ parent_run_id: identity.parentRunId }),
    depth: identity.depth,
    ...present({
      conversation_id: identity.conversationId,
      agent_name: identity.agentName,
      model_id: identity.modelId,
    }),
  };
}

function toStoredMessage(message: AgentMessage): StoredMessage {
  // An untyped host may send anything; `repairPayload` repairs it.
  if (!isJsonObject(message)) return message;
  const content = toStoredContent(message.content);
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content };
    case 'assistant':
      return {
        role: 'assistant',
        content,
        ...present({
          stop_reason: message.stopReason,
          error_message: message.errorMessage,
          model_id: message.modelId,
          usage: isJsonObject(message.usage) ? toStoredUsage(message.usage) : undefined,
        }),
      };
    case 'tool_result':
      return {
        role: 'tool_result',
        tool_call_id: message.toolCallId,
        ...present({ tool_name: message.toolName }),
        content,
        ...present({ is_error: message.isError }),
      };
    default:
      return message;
  }
}

function toStoredContent(content: MessageContent): StoredContent {
  return typeof content === 'string' ? content : mapList(content, toStoredBlock);
}

function toStoredBlock(block: ContentBlock): StoredContentBlock {
  if (!isJsonObject(block)) return block;
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return { type: block.type, text: block.text };
    case 'tool_call':
      return { type: 'tool_call', id: block.id, name: block.name, args: block.args };
    case 'image':
      return {
        type: 'image',
        media_type: block.mediaType,
        ...present({ data_base64: block.dataBase64, url: block.url }),
      };
    case 'other':
      return { type: 'other', value: block.value };
    default:
      return block;
  }
}

function toStoredUsage(usage: Usage): StoredUsage {
  return present({
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    reasoning_tokens: usage.reasoningTokens,
    cost_usd: usage.costUsd,
  });
}
