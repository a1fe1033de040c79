import { type JsonMembers, listOf, membersOf, textOrUndefined } from '../../base/json-member.ts';
import { type Json, isJsonObject } from '../../base/json.ts';
import type { StoredContentBlock } from '../../records/stored-message.ts';
import type { AnswerPart } from '../parts/run-items.ts';
import { callArguments, sourceCall } from '../parts/source-call.ts';
import { asJson, sourceBlock, sourceResult } from '../parts/source-content.ts';
import { decodeJson } from '../reading/json-text.ts';

/** A message of a request or an answer. */
export interface TracedMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly parts: readonly AnswerPart[];
  /** Results of calls in the message. */
  readonly results: readonly TracedResult[];
  readonly finishReason: string | undefined;
}

type GivenRole = 'system' | 'user' | 'assistant';

/** A result of a call that a later request repeats. */
export interface TracedResult {
  readonly id: string | undefined;
  readonly result: Json;
}

const ROLES: ReadonlyMap<unknown, TracedMessage['role']> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['assistant', 'assistant'],
  ['ai', 'assistant'],
  ['model', 'assistant'],
  ['tool', 'tool'],
  ['function', 'tool'],
]);
const CALLS: ReadonlySet<unknown> = new Set([
  'tool_call',
  'tool_use',
  'tool-call',
  'function_call',
  'server_tool_call',
]);
const RESULTS: ReadonlySet<unknown> = new Set([
  'tool_call_response',
  'tool_result',
  'tool-result',
  'function_call_output',
  'server_tool_call_response',
]);

/** Decodes a text that contains JSON. Any other text is returned unchanged. */
export function decodedValue(value: Json): Json {
  if (typeof value !== 'string') return value;
  const decoded = decodeJson(value);
  return decoded.ok ? asJson(decoded.value) : value;
}

/**
 * Reads messages in the formats of the supported instrumentations: `{role, parts}` of the GenAI conventions, `{role, content,
 * tool_calls}` of OpenAI and Anthropic, the wrapped fields of OpenInference, and plain text. Never throws.
 *
 * @param role  role of messages without one; with `system`, a list contains parts instead of messages
 */
export function readMessages(value: Json | undefined, role: GivenRole): readonly TracedMessage[] {
  if (value === undefined || value === null || value === '') return [];
  const decoded = typeof value === 'string' && /^\s*[[{]/.test(value) ? decodedValue(value) : value;
  if (Array.isArray(decoded)) return decoded.map((message: Json) => readMessage(message, role));
  const inner = membersOf(decoded)['messages'];
  if (Array.isArray(inner)) return inner.map((message: unknown) => readMessage(message, role));
  return [readMessage(decoded, role)];
}

function readMessage(value: unknown, role: GivenRole): TracedMessage {
  if (!isJsonObject(value)) return plainMessage([sourceBlock(value)], role);
  const message = isJsonObject(value['message']) ? value['message'] : value;
  const ownRole = ROLES.get(message['role'] ?? message['type']);
  const isNamed = message['role'] !== undefined || (message['type'] !== undefined && role !== 'system');
  const messageRole = ownRole ?? (isNamed ? 'user' : role);
  const content = message['parts'] ?? message['contents'] ?? message['content'] ?? message['text'];
  const items = (Array.isArray(content) ? content : content === undefined ? [] : [content]).map((item: unknown) => {
    const members = membersOf(item);
    return isJsonObject(members['message_content']) ? members['message_content'] : item;
  });
  const answers = membersOf(message)['tool_call_id'];
  if (messageRole === 'tool' && typeof answers === 'string') {
    return { ...plainMessage([], 'tool'), results: [{ id: answers, result: sourceResult(content) }] };
  }
  const parts: AnswerPart[] = [];
  const results: TracedResult[] = [];
  for (const item of items) {
    if (item === null || item === '') continue;
    const { type } = membersOf(item);
    if (CALLS.has(type)) parts.push(callPart(membersOf(item)));
    else if (RESULTS.has(type)) results.push(resultOf(membersOf(item)));
    else parts.push(blockOf(item));
  }
  for (const call of listOf(message['tool_calls'])) {
    const members = membersOf(call);
    parts.push(callPart(isJsonObject(members['tool_call']) ? members['tool_call'] : members));
  }
  // The message is itself a value, such as the structured output of a generation.
  if (parts.length === 0 && results.length === 0 && content === undefined && ownRole === undefined) {
    return plainMessage([sourceBlock(JSON.stringify(value))], messageRole);
  }
  return { role: messageRole, parts, results, finishReason: textOrUndefined(message['finish_reason']) };
}

function plainMessage(parts: readonly StoredContentBlock[], role: TracedMessage['role']): TracedMessage {
  return { role, parts, results: [], finishReason: undefined };
}

function callPart(part: JsonMembers): AnswerPart {
  const name = textOrUndefined(part['toolName']) ?? textOrUndefined(part['name']);
  if (name === undefined) return { type: 'call', call: sourceCall(part) };
  const sourceId = idOf(part);
  return {
    type: 'call',
    call: { sourceId, name, args: callArguments(part['arguments'] ?? part['input'] ?? part['args']) },
  };
}

function resultOf(part: JsonMembers): TracedResult {
  const output = part['response'] ?? part['result'] ?? part['output'] ?? part['content'];
  // The AI SDK uses the format `{type, value}`.
  const { type, value } = membersOf(output);
  return {
    id: idOf(part),
    result: typeof type === 'string' && value !== undefined ? asJson(value) : sourceResult(output),
  };
}

function idOf(part: JsonMembers): string | undefined {
  const callId = part['tool_call_id'] ?? part['call_id'] ?? part['tool_use_id'] ?? part['toolCallId'] ?? part['id'];
  return textOrUndefined(callId);
}

/** Converts a content part. The GenAI conventions store its text in `content`. */
function blockOf(part: unknown): StoredContentBlock {
  const { type, content, text, mime_type: mediaType, modality, uri } = membersOf(part);
  const ownText = textOrUndefined(content) ?? textOrUndefined(text);
  if (type === 'text' && ownText !== undefined) return { type: 'text', text: ownText };
  if ((type === 'reasoning' || type === 'thinking') && ownText !== undefined)
    return { type: 'reasoning', text: ownText };
  if (modality === 'image') {
    const media = { type: 'image', media_type: textOrUndefined(mediaType) ?? 'image/*' } as const;
    if (typeof uri === 'string') return { ...media, url: uri };
    if (type === 'blob' && ownText !== undefined) return { ...media, data_base64: ownText };
  }
  return sourceBlock(part);
}
