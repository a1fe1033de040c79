import { isJsonObject } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import type { StoredContentBlock } from '../../records/stored-message.ts';
import { listOf, membersOf, type JsonMembers } from '../parts/json-member.ts';
import { asJson, sourceBlock, textOrUndefined } from '../parts/source-content.ts';
import { sourceUsage } from '../parts/source-usage.ts';

/** True when it has a form that only clark-agent writes: a message with its time, usage in its names. */
export function isClarkPayload(payload: unknown): boolean {
  const { kind, message, identity } = membersOf(payload);
  if (kind === 'message_appended') {
    const { role, timestamp } = membersOf(message);
    return role === 'custom' || typeof timestamp === 'number' || messagesOf(payload).some(isClarkMessage);
  }
  return kind === 'run_started' ? 'deadline_unix_ms' in membersOf(identity) : messagesOf(payload).some(isClarkMessage);
}

/** A payload of clark-agent in our form; what is no payload stays as it is, for the decoder to refuse. */
export function clarkPayload(payload: unknown): unknown {
  if (!isJsonObject(payload)) return payload;
  const { message, assistant, tool_results: results, new_messages: added } = payload;
  return {
    ...payload,
    ...present({
      message: message === undefined ? undefined : storedMessage(message),
      assistant: assistant === undefined ? undefined : storedMessage(assistant),
      tool_results: Array.isArray(results) ? results.map(storedMessage) : undefined,
      new_messages: Array.isArray(added) ? added.map(storedMessage) : undefined,
    }),
  };
}

/** The parts of a message or of a result. */
export function clarkBlocks(content: unknown): readonly StoredContentBlock[] {
  return listOf(content).map(storedBlock);
}

function messagesOf(payload: unknown): readonly unknown[] {
  const { message, assistant, tool_results: results } = membersOf(payload);
  return [message, assistant, ...listOf(results)];
}

function isClarkMessage(message: unknown): boolean {
  const { role, content, usage } = membersOf(message);
  if (role !== 'assistant') return false;
  return (
    'cache_read_input_tokens' in membersOf(usage) || listOf(content).some((block) => 'arguments' in membersOf(block))
  );
}

function storedMessage(message: unknown): unknown {
  if (!isJsonObject(message)) return message;
  const { role, content, usage } = message;
  if (role === 'custom') {
    const value = asJson({ kind: message['kind'], payload: message['payload'] });
    return { role: 'system', content: [{ type: 'other', value }] };
  }
  const used = sourceUsage(usage);
  const { usage: _left, ...rest } = message;
  return { ...rest, content: Array.isArray(content) ? clarkBlocks(content) : content, ...present({ usage: used }) };
}

function storedBlock(block: unknown): StoredContentBlock {
  const members: JsonMembers = membersOf(block);
  const { type, id, name, text } = members;
  if (type === 'tool_call' && typeof id === 'string' && typeof name === 'string') {
    return { type, id, name, args: asJson(members['arguments']) };
  }
  if ((type === 'thinking' || type === 'reasoning') && typeof text === 'string') return { type: 'reasoning', text };
  const source = textOrUndefined(members['source']);
  if (type === 'image' && source !== undefined) {
    return sourceBlock({ type, image_url: source, source: { media_type: members['media_type'] } });
  }
  return sourceBlock(block);
}
