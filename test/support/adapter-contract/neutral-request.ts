import { isJsonObject } from '../../../src/core/base/json.ts';
import type { NeutralMessage, NeutralRequest } from './adapter-harness.ts';

/** Converts a request to Anthropic's Messages API, part by part. */
export function neutralAnthropicRequest(raw: string): NeutralRequest {
  const body = bodyOf(raw);
  return {
    raw,
    messages: [
      ...partsOf(body['system']).map((part) => ({ role: 'system', text: textOf(part) })),
      ...listOf(body['messages']).flatMap((message) => {
        const role = wordOf(message['role']);
        return partsOf(message['content']).map((part) => anthropicPart(role, part));
      }),
    ],
  };
}

function anthropicPart(role: string, part: unknown): NeutralMessage {
  if (!isJsonObject(part)) return { role, text: textOf(part) };
  if (part['type'] === 'tool_use') {
    return { role, toolCallId: wordOf(part['id']), text: `${wordOf(part['name'])} ${JSON.stringify(part['input'])}` };
  }
  if (part['type'] !== 'tool_result') return { role, text: textOf(part) };
  const text = partsOf(part['content']).map(textOf).join('\n');
  return { role: 'tool', toolCallId: wordOf(part['tool_use_id']), text, isError: part['is_error'] === true };
}

/** Converts a request to OpenAI's chat completions, part by part. */
export function neutralChatRequest(raw: string): NeutralRequest {
  return { raw, messages: listOf(bodyOf(raw)['messages']).flatMap(chatParts) };
}

function chatParts(message: Readonly<Record<string, unknown>>): readonly NeutralMessage[] {
  const role = wordOf(message['role']);
  const answers = message['tool_call_id'];
  const text = partsOf(message['content']).map(textOf).join('\n');
  if (typeof answers === 'string') return [{ role, toolCallId: answers, text }];
  const calls = listOf(message['tool_calls']).map((call): NeutralMessage => {
    const functionCall = isJsonObject(call['function']) ? call['function'] : {};
    return {
      role,
      toolCallId: wordOf(call['id']),
      text: `${wordOf(functionCall['name'])} ${wordOf(functionCall['arguments'])}`,
    };
  });
  return text === '' && calls.length > 0 ? calls : [{ role, text }, ...calls];
}

/** Converts a request to OpenAI's Responses, item by item. */
export function neutralResponsesRequest(raw: string): NeutralRequest {
  const body = bodyOf(raw);
  const { instructions, input } = body;
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input);
  return {
    raw,
    messages: [
      ...(typeof instructions === 'string' ? [{ role: 'system', text: instructions }] : []),
      ...items.map(responsesItem),
    ],
  };
}

function responsesItem(item: Readonly<Record<string, unknown>>): NeutralMessage {
  const { type, call_id } = item;
  if (type === 'function_call_output') {
    const text = partsOf(item['output']).map(textOf).join('\n');
    return { role: 'tool', toolCallId: wordOf(call_id), text };
  }
  if (type === 'function_call') {
    const text = `${wordOf(item['name'])} ${wordOf(item['arguments'])}`;
    return { role: 'assistant', toolCallId: wordOf(call_id), text };
  }
  if (typeof item['role'] !== 'string') return { role: wordOf(type), text: JSON.stringify(item) };
  return { role: item['role'], text: partsOf(item['content']).map(textOf).join('\n') };
}

function bodyOf(raw: string): Readonly<Record<string, unknown>> {
  const body: unknown = JSON.parse(raw);
  return isJsonObject(body) ? body : {};
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Returns the parts of a message content, which is a string or a list of parts. */
function partsOf(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  return content === undefined || content === null ? [] : [content];
}

function textOf(part: unknown): string {
  if (typeof part === 'string') return part;
  if (isJsonObject(part) && typeof part['text'] === 'string') return part['text'];
  return JSON.stringify(part) ?? '';
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
