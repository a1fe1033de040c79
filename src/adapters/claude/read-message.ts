import { wordSet } from '../../core/base/word-set.ts';
import { isJsonObject, membersOf, type Json } from '../../core/base/json.ts';
import { unixMsOf } from '../../core/base/unix-time.ts';
import type { LimitUsed } from '../../core/facts/limit-used.ts';
import type { ContentBlock, Usage } from '../../core/records/agent-message.ts';
import { usageOf } from '../host/content-blocks.ts';
import { claudeContentBlocks, textOfBlocks } from './content-blocks.ts';
import { readQueryResult, type QueryResult } from './read-result.ts';
import { toolResultOf } from './tool-response.ts';

type Members = Readonly<Record<string, unknown>>;

/** The thread of a message. Empty for the main thread. */
export interface MessagePlace {
  readonly agentId?: string;
  readonly agentType?: string;
  /** Id of the call that started the subagent. Set if the message has no agent id. */
  readonly parentCallId?: string;
}

/** A part of a model's answer. The SDK sends each content block as a separate message that has the answer's id. */
export interface StreamedPart {
  readonly messageId: string;
  readonly blocks: readonly ContentBlock[];
  readonly modelId?: string;
  readonly usage?: Usage;
  readonly stopReason?: string;
  /** Text of a failed request, which the SDK sends in place of an answer. */
  readonly errorMessage?: string;
}

/** The result of a tool, as the model was shown it. */
export interface ShownResult {
  readonly callId: string;
  readonly result: Json;
  readonly isError: boolean;
}

export type SessionMessage =
  | { readonly kind: 'init'; readonly sessionId?: string; readonly modelId?: string }
  | { readonly kind: 'answer'; readonly place: MessagePlace; readonly part: StreamedPart }
  | {
      readonly kind: 'user';
      readonly place: MessagePlace;
      readonly results: readonly ShownResult[];
      readonly blocks: readonly ContentBlock[];
      readonly isSynthetic: boolean;
      /** True if the message repeats a prompt that was already submitted. */
      readonly isReplay: boolean;
    }
  | { readonly kind: 'delta'; readonly place: MessagePlace; readonly text: string }
  | {
      readonly kind: 'finished';
      readonly place: MessagePlace;
      readonly messageId?: string;
      readonly usage: Usage;
      readonly stopReason?: string;
    }
  | { readonly kind: 'agent'; readonly agentId: string; readonly callId: string }
  | { readonly kind: 'denied'; readonly place: MessagePlace; readonly callId: string }
  | { readonly kind: 'compacted'; readonly trigger: string }
  | { readonly kind: 'limit'; readonly limit: LimitUsed }
  | { readonly kind: 'result'; readonly result: QueryResult }
  | { readonly kind: 'other' };

const PASSED_OVER: ReadonlySet<unknown> = wordSet(
  'tool_progress auth_status tool_use_summary prompt_suggestion conversation_reset keep_alive',
);

/** @returns undefined for a message of an unknown type, or without its required fields */
export function readMessage(message: unknown): SessionMessage | undefined {
  if (!isJsonObject(message)) return undefined;
  switch (message['type']) {
    case 'system':
      return systemMessage(message);
    case 'assistant':
      return answerOf(message);
    case 'user':
      return userMessage(message);
    case 'stream_event':
      return streamEvent(message);
    case 'rate_limit_event':
      return limitOf(message['rate_limit_info']);
    case 'result':
      return { kind: 'result', result: readQueryResult(message) };
    default:
      return PASSED_OVER.has(message['type']) ? { kind: 'other' } : undefined;
  }
}

const WINDOW_MINUTES: ReadonlyMap<unknown, number> = new Map([
  ['five_hour', 300],
  ['seven_day', 10_080],
  ['seven_day_opus', 10_080],
  ['seven_day_sonnet', 10_080],
]);

/** The used share is from 0 to 1. A request that was refused has no share. */
function limitOf(info: unknown): SessionMessage {
  const { rateLimitType, resetsAt, status, surpassedThreshold, utilization } = membersOf(info);
  const windowMinutes = WINDOW_MINUTES.get(rateLimitType);
  const share = status === 'rejected' ? 1 : (utilization ?? surpassedThreshold);
  if (windowMinutes === undefined || typeof share !== 'number') return { kind: 'other' };
  const resets = typeof resetsAt === 'number' ? { resetsAtMs: unixMsOf(resetsAt).ms } : {};
  return { kind: 'limit', limit: { usedPercent: Math.round(100 * share), windowMinutes, ...resets } };
}

function systemMessage(message: Members): SessionMessage {
  const { subtype, session_id, model, task_id, tool_use_id, compact_metadata } = message;
  if (subtype === 'init') {
    return {
      kind: 'init',
      ...(typeof session_id === 'string' ? { sessionId: session_id } : {}),
      ...(typeof model === 'string' ? { modelId: model } : {}),
    };
  }
  if (subtype === 'task_started' && typeof task_id === 'string' && typeof tool_use_id === 'string') {
    return { kind: 'agent', agentId: task_id, callId: tool_use_id };
  }
  if (subtype === 'permission_denied' && typeof tool_use_id === 'string') {
    return { kind: 'denied', place: placeOf(message), callId: tool_use_id };
  }
  if (subtype === 'compact_boundary') {
    const trigger = isJsonObject(compact_metadata) ? compact_metadata['trigger'] : undefined;
    return { kind: 'compacted', trigger: typeof trigger === 'string' ? trigger : 'unspecified' };
  }
  return { kind: 'other' };
}

function answerOf(entry: Members): SessionMessage | undefined {
  const { message } = entry;
  if (!isJsonObject(message)) return undefined;
  const { id, model, stop_reason } = message;
  const blocks = claudeContentBlocks(message['content']);
  const hasFailed = typeof entry['error'] === 'string' || model === SYNTHETIC_MODEL;
  const messageId = typeof id === 'string' ? id : '';
  return {
    kind: 'answer',
    place: placeOf(entry),
    part: {
      messageId,
      blocks,
      ...(typeof model === 'string' && model !== SYNTHETIC_MODEL ? { modelId: model } : {}),
      ...(hasFailed ? {} : { usage: tokensOf(message['usage']) }),
      ...(typeof stop_reason === 'string' ? { stopReason: stop_reason } : {}),
      ...(hasFailed ? { errorMessage: textOfBlocks(blocks) } : {}),
    },
  };
}

const SYNTHETIC_MODEL = '<synthetic>';

function userMessage(entry: Members): SessionMessage | undefined {
  const { message } = entry;
  if (!isJsonObject(message)) return undefined;
  const { content } = message;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  const ownParts = parts.filter((part) => shownResult(part).length === 0);
  return {
    kind: 'user',
    place: placeOf(entry),
    results: parts.flatMap(shownResult),
    blocks: typeof content === 'string' ? claudeContentBlocks(content) : claudeContentBlocks(ownParts),
    isSynthetic: entry['isSynthetic'] === true,
    isReplay: entry['isReplay'] === true,
  };
}

function shownResult(part: unknown): readonly ShownResult[] {
  if (!isJsonObject(part) || part['type'] !== 'tool_result') return [];
  const { tool_use_id: callId, content, is_error } = part;
  return typeof callId === 'string' ? [{ callId, result: toolResultOf(content), isError: is_error === true }] : [];
}

function streamEvent(entry: Members): SessionMessage | undefined {
  const { event, api_message_id } = entry;
  if (!isJsonObject(event)) return undefined;
  const { delta } = event;
  const place = placeOf(entry);
  if (event['type'] === 'content_block_delta' && isJsonObject(delta) && typeof delta['text'] === 'string') {
    return { kind: 'delta', place, text: delta['text'] };
  }
  if (event['type'] !== 'message_delta') return { kind: 'other' };
  const stopReason = isJsonObject(delta) ? delta['stop_reason'] : undefined;
  return {
    kind: 'finished',
    place,
    ...(typeof api_message_id === 'string' ? { messageId: api_message_id } : {}),
    usage: tokensOf(event['usage']),
    ...(typeof stopReason === 'string' ? { stopReason } : {}),
  };
}

function placeOf({ agent_id, subagent_type, parent_tool_use_id }: Members): MessagePlace {
  return {
    ...(typeof agent_id === 'string' ? { agentId: agent_id } : {}),
    ...(typeof subagent_type === 'string' ? { agentType: subagent_type } : {}),
    ...(typeof parent_tool_use_id === 'string' ? { parentCallId: parent_tool_use_id } : {}),
  };
}

/** Reads token counts of the Messages API, where `input_tokens` excludes cached tokens. */
export function tokensOf(usage: unknown): Usage {
  if (!isJsonObject(usage)) return {};
  const counts = {
    inputTokens: usage['input_tokens'],
    outputTokens: usage['output_tokens'],
    cacheReadTokens: usage['cache_read_input_tokens'],
    cacheWriteTokens: usage['cache_creation_input_tokens'],
    cacheWriteHourTokens: membersOf(usage['cache_creation'])['ephemeral_1h_input_tokens'],
  };
  return usageOf(counts) ?? {};
}
