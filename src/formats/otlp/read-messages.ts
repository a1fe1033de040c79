import { wordSet } from '../../core/base/word-set.ts';
import {
  type JsonMembers,
  listOf,
  membersOf,
  textOrUndefined,
  type Json,
  isJsonObject,
  type JsonObject,
  present,
} from '../../core/base/json.ts';
import type { StoredContentBlock } from '../../core/records/agent-message.ts';
import type { CallShape } from '../parts/call-ids.ts';
import type { AnswerPart } from '../parts/run-items.ts';
import {
  callArguments,
  sourceCall,
  asJson,
  reasoningBlocks,
  sourceBlock,
  sourceResult,
} from '../parts/source-content.ts';
import { decodeJson } from '../reading/json-text.ts';

export interface TracedMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly parts: readonly AnswerPart[];
  readonly results: readonly TracedResult[];
  readonly finishReason: string | undefined;
  /** A role that no API has. It is the name of a tool if the message is a result. */
  readonly otherRole?: string;
}

type GivenRole = 'system' | 'user' | 'assistant';

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
const CALLS: ReadonlySet<unknown> = wordSet('tool_call tool_use tool-call function_call server_tool_call');
const RESULTS: ReadonlySet<unknown> = wordSet(
  'tool_call_response tool_result tool-result function_call_output server_tool_call_response',
);

/** Decodes a text that contains JSON. Any other text is returned unchanged. */
export function decodedValue(value: Json): Json {
  if (typeof value !== 'string') return value;
  const decoded = decodeJson(value);
  return decoded.ok ? asJson(decoded.value) : value;
}

/**
 * `{role, parts}` of the GenAI conventions, `{role, content, tool_calls}` of OpenAI and Anthropic, wrapped fields of
 * OpenInference, plain text. Never throws.
 *
 * @param role  of messages without one; with `system`, a list has parts
 */
export function readMessages(value: Json | undefined, role: GivenRole): readonly TracedMessage[] {
  if (value === undefined || value === null || value === '') return [];
  const decoded = typeof value === 'string' && /^\s*[[{]/.test(value) ? decodedValue(value) : value;
  const { contents, generations, messages } = membersOf(decoded);
  const list = [decoded, messages, contents, listOf(generations)[0]].find(
    (form) => Array.isArray(form) && form.length > 0,
  );
  if (list === undefined) return [readMessage(decoded, role)];
  // LangChain writes a list of requests.
  const [first] = listOf(list);
  const items = Array.isArray(first) ? first : listOf(list);
  return withCallIds((itemsInText(items) ?? items).map((message: unknown) => readMessage(message, role)));
}

/** OpenLLMetry writes the items of a Responses request as the JSON text of one message. */
function itemsInText(items: readonly unknown[]): readonly unknown[] | undefined {
  const text = membersOf(listOf(membersOf(items[0])['parts'])[0])['content'];
  if (items.length !== 1 || typeof text !== 'string' || !text.startsWith('[{')) return undefined;
  const decoded = decodedValue(text);
  const isItem = (item: unknown): boolean =>
    membersOf(item)['role'] !== undefined || isItemType(membersOf(item)['type']);
  return Array.isArray(decoded) && decoded.every(isItem) ? decoded : undefined;
}

function isItemType(type: unknown): boolean {
  return CALLS.has(type) || RESULTS.has(type) || type === 'reasoning';
}

/** Gives results without an id the ids of the calls before them: by the name of the tool, else in order. */
function withCallIds(messages: readonly TracedMessage[]): readonly TracedMessage[] {
  let open: CallShape[] = [];
  let isAnswer = false;
  return messages.map((message) => {
    if (message.role === 'assistant') {
      const calls = message.parts.flatMap((part) => (part.type === 'call' ? [part.call] : []));
      open = isAnswer ? [...open, ...calls] : calls;
      isAnswer = true;
      return message;
    }
    isAnswer = false;
    const { otherRole, parts } = message;
    const indexByName = otherRole === undefined ? -1 : open.findIndex(({ name }) => name === otherRole);
    if (indexByName >= 0) {
      const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
      const id = open.splice(indexByName, 1)[0]?.sourceId;
      return { ...plainMessage([], 'tool'), results: [{ id, result: text }] };
    }
    const results = message.results.map(({ id, result }) => {
      const indexById = id === undefined ? 0 : open.findIndex(({ sourceId }) => sourceId === id);
      return { id: (indexById < 0 ? undefined : open.splice(indexById, 1)[0]?.sourceId) ?? id, result };
    });
    return results.length === 0 ? message : { ...message, results };
  });
}

/** Returns the fields of a message that LangChain serialised, with its role. Undefined for any other value. */
export function langChainMessage(value: unknown): JsonMembers | undefined {
  const { lc, id, kwargs } = membersOf(value);
  const kind = listOf(id).at(-1);
  if (lc === undefined || typeof kind !== 'string' || !isJsonObject(kwargs)) return undefined;
  const role = /^(AI|Human|System|Tool|Function)Message/.exec(kind)?.[1]?.toLowerCase();
  return role === undefined ? undefined : { ...membersOf(kwargs), role };
}

function readMessage(value: unknown, role: GivenRole): TracedMessage {
  if (!isJsonObject(value)) return plainMessage([sourceBlock(value)], role);
  if (role !== 'system' && value['role'] === undefined && isItemType(value['type'])) return readItem(value);
  const source = isJsonObject(value['message']) ? value['message'] : value;
  const message = langChainMessage(source) ?? source;
  const ownRole = ROLES.get(message['role'] ?? message['type']);
  const givenRole = textOrUndefined(message['role']);
  const otherRole = ownRole === undefined && givenRole !== 'user' && givenRole !== 'human' ? givenRole : undefined;
  const isNamed = message['role'] !== undefined || (message['type'] !== undefined && role !== 'system');
  const messageRole = ownRole ?? (isNamed ? 'user' : role);
  const content = message['parts'] ?? message['contents'] ?? message['content'] ?? message['text'];
  const items = (Array.isArray(content) ? content : content === undefined ? [] : [content]).map((item: unknown) => {
    const members = membersOf(item);
    return isJsonObject(members['message_content']) ? members['message_content'] : item;
  });
  const answers = membersOf(message)['tool_call_id'];
  if (messageRole === 'tool' && !items.some((item) => RESULTS.has(membersOf(item)['type']))) {
    const results = content === undefined ? [] : [{ id: textOrUndefined(answers), result: sourceResult(content) }];
    return { ...plainMessage([], 'tool'), results };
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
  // LangChain keeps the calls of OpenAI's API in this form too.
  const rawCalls = membersOf(message['additional_kwargs'])['tool_calls'];
  for (const call of listOf(listOf(message['tool_calls']).length > 0 ? message['tool_calls'] : rawCalls)) {
    const members = membersOf(call);
    parts.push(callPart(isJsonObject(members['tool_call']) ? members['tool_call'] : members));
  }
  // The message is itself a value, such as the structured output of a generation.
  if (parts.length === 0 && results.length === 0 && content === undefined && ownRole === undefined) {
    return plainMessage([sourceBlock(JSON.stringify(value))], messageRole);
  }
  const finish = textOrUndefined(message['finish_reason']);
  return { role: messageRole, parts, results, finishReason: finish, ...present({ otherRole }) };
}

function readItem(item: JsonMembers): TracedMessage {
  const { type } = item;
  if (RESULTS.has(type)) return { ...plainMessage([], 'tool'), results: [resultOf(item)] };
  if (CALLS.has(type)) return { ...plainMessage([], 'assistant'), parts: [callPart(item)] };
  return plainMessage(reasoningBlocks(item['summary']), 'assistant');
}

function plainMessage(parts: readonly StoredContentBlock[], role: TracedMessage['role']): TracedMessage {
  return { role, parts, results: [], finishReason: undefined };
}

/** Arguments that the sender did not capture. They name their call or span, so that they differ from all others. */
export function notCaptured(subject: string): JsonObject {
  return { not_captured: subject };
}

function callPart(part: JsonMembers): AnswerPart {
  const name = textOrUndefined(part['toolName']) ?? textOrUndefined(part['name']);
  const { args: captured, ...call } =
    name === undefined
      ? { ...sourceCall(part), args: membersOf(part['function'])['arguments'] }
      : { sourceId: idOf(part), name, args: part['arguments'] ?? part['input'] ?? part['args'] };
  // A call without arguments has an empty object. Arguments that are missing were not captured.
  const isCaptured = captured !== undefined || call.sourceId === undefined;
  return {
    type: 'call',
    call: { ...call, args: isCaptured ? callArguments(captured) : notCaptured(`call ${call.sourceId}`) },
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
  // A part of the Gemini API has no type.
  const isText = type === 'text' || (type === undefined && content === undefined);
  if (isText && ownText !== undefined) return { type: 'text', text: ownText };
  if ((type === 'reasoning' || type === 'thinking') && ownText !== undefined)
    return { type: 'reasoning', text: ownText };
  if (modality === 'image') {
    const media = { type: 'image', media_type: textOrUndefined(mediaType) ?? 'image/*' } as const;
    if (typeof uri === 'string') return { ...media, url: uri };
    if (type === 'blob' && ownText !== undefined) return { ...media, data_base64: ownText };
  }
  return sourceBlock(part);
}
