import {
  type JsonMembers,
  membersOf,
  textOrUndefined,
  isJsonObject,
  objectsIn,
  textOrEmpty,
} from '../../core/base/json.ts';
import { toJson } from '../../core/base/to-json.ts';
import type { ContentBlock } from '../../core/records/agent-message.ts';
import { type AnswerPart, answerOfParts, callPart, callsIn } from '../host/answer-parts.ts';
import { contentBlocks, decodedArgs, usageOf } from '../host/content-blocks.ts';
import { answerParts, stopReasonOf } from '../host/response-items.ts';
import type { ConversationAnswer } from '../host/conversation.ts';
import type { IssuedCall } from '../host/issued-call.ts';
import { type ModelApi, eventStream, type AnswerStream, type EventCollector } from '../host/steered-fetch.ts';
import type { ToolCall } from './sdk-shapes.ts';

export function answerOf(body: unknown): ConversationAnswer | undefined {
  if (!isJsonObject(body)) return undefined;
  if (Array.isArray(body['output'])) return answerOfResponse(body, body['output']);
  const choice: unknown = Array.isArray(body['choices']) ? body['choices'][0] : undefined;
  return isJsonObject(choice) ? answerOfChoice(body, choice) : undefined;
}

/** Returns true for a response that is still in progress in the background. Its answer arrives separately. */
function isUnfinished(body: unknown): boolean {
  return isJsonObject(body) && (body['status'] === 'queued' || body['status'] === 'in_progress');
}

export const openaiApi: ModelApi = {
  name: 'openai',
  path: /\/(?:chat\/completions|responses)$/,
  answerOf,
  answerStream,
  isUnfinished,
};

export function toIssuedCall(call: ToolCall): IssuedCall {
  switch (call.type) {
    case 'function_call':
      return issuedCall(call.call_id, call.name, call.arguments);
    case 'custom_tool_call':
      return issuedCall(call.call_id, call.name, call.input);
    case 'custom':
      return issuedCall(call.id, call.custom.name, call.custom.input);
    default:
      return issuedCall(call.id, call.function.name, call.function.arguments);
  }
}

export function callsOfRunner(runner: unknown): readonly IssuedCall[] {
  const messages = isJsonObject(runner) ? runner['messages'] : undefined;
  const list: readonly unknown[] = Array.isArray(messages) ? messages : [];
  const last = list.findLast((message) => isJsonObject(message) && message['role'] === 'assistant');
  return isJsonObject(last) ? callsIn(chatCalls(last)) : [];
}

function answerOfChoice(body: JsonMembers, choice: JsonMembers): ConversationAnswer | undefined {
  const { message, finish_reason } = choice;
  if (!isJsonObject(message)) return undefined;
  const reasoning = textOrUndefined(message['reasoning_content']) ?? textOrUndefined(message['reasoning']);
  const blocks: readonly ContentBlock[] = [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning } as const]),
    ...contentBlocks(message['content']),
    ...contentBlocks(message['refusal']),
  ];
  const usage = membersOf(body['usage']);
  return answerOfParts([...blocks.map((block) => ({ block })), ...chatCalls(message)], {
    stopReason: textOrUndefined(finish_reason),
    modelId: textOrUndefined(body['model']),
    usage: usageOf({
      inputTokens: usage['prompt_tokens'],
      outputTokens: usage['completion_tokens'],
      cacheReadTokens: membersOf(usage['prompt_tokens_details'])['cached_tokens'],
      reasoningTokens: membersOf(usage['completion_tokens_details'])['reasoning_tokens'],
    }),
  });
}

function chatCalls(message: JsonMembers): readonly AnswerPart[] {
  const { tool_calls, function_call } = message;
  const list: readonly unknown[] = Array.isArray(tool_calls) ? tool_calls : [];
  const legacy = isJsonObject(function_call) ? [{ function: function_call }] : [];
  return [...list, ...legacy].map((value): AnswerPart => {
    const call = membersOf(value);
    const functionFields = call['function'] ?? call['custom'];
    if (!isJsonObject(functionFields)) return { block: { type: 'other', value: toJson(value) } };
    return callPart(
      issuedCall(call['id'], functionFields['name'], functionFields['arguments'] ?? functionFields['input']),
    );
  });
}

function issuedCall(id: unknown, name: unknown, input: unknown): IssuedCall {
  const argsText = textOrUndefined(input) ?? '';
  return {
    id: textOrUndefined(id) ?? '',
    name: textOrUndefined(name) ?? 'unknown',
    args: decodedArgs(argsText),
    argsText,
  };
}

function answerOfResponse(body: JsonMembers, output: readonly unknown[]): ConversationAnswer {
  const usage = membersOf(body['usage']);
  return answerOfParts(answerParts(output), {
    stopReason: stopReasonOf(body),
    errorMessage: textOrUndefined(membersOf(body['error'])['message']),
    modelId: textOrUndefined(body['model']),
    usage: usageOf({
      inputTokens: usage['input_tokens'],
      outputTokens: usage['output_tokens'],
      cacheReadTokens: membersOf(usage['input_tokens_details'])['cached_tokens'],
      reasoningTokens: membersOf(usage['output_tokens_details'])['reasoning_tokens'],
    }),
  });
}

export function answerStream(): AnswerStream {
  const chat = chatCollector();
  const responses = responsesCollector();
  return eventStream({
    take: (event) => (Array.isArray(event['choices']) ? chat.take(event) : responses.take(event)),
    answer: () => responses.answer() ?? chat.answer(),
    isWhole: () => responses.isWhole(),
  });
}

/** A call in a streamed chat message. Its arguments arrive in parts. */
interface CallInPieces {
  id: unknown;
  name: string;
  arguments: string;
}

function chatCollector(): Omit<EventCollector, 'isWhole'> {
  let head: JsonMembers | undefined;
  let usage: unknown;
  let finish_reason: unknown;
  let content = '';
  let refusal = '';
  let reasoning = '';
  const calls = new Map<unknown, CallInPieces>();
  const takeCall = (piece: JsonMembers): void => {
    const call = calls.get(piece['index']) ?? { id: undefined, name: '', arguments: '' };
    const functionFields = membersOf(piece['function']);
    call.id = piece['id'] ?? call.id;
    call.name += textOrEmpty(functionFields['name']);
    call.arguments += textOrEmpty(functionFields['arguments']);
    calls.set(piece['index'], call);
  };
  return {
    take(chunk) {
      head ??= chunk;
      usage = chunk['usage'] ?? usage;
      const choice = objectsIn(chunk['choices']).find((item) => (item['index'] ?? 0) === 0) ?? {};
      finish_reason = choice['finish_reason'] ?? finish_reason;
      const delta = membersOf(choice['delta']);
      const text = textOrEmpty(delta['content']);
      content += text;
      refusal += textOrEmpty(delta['refusal']);
      reasoning += textOrEmpty(delta['reasoning_content']) + textOrEmpty(delta['reasoning']);
      for (const piece of objectsIn(delta['tool_calls'])) takeCall(piece);
      return text === '' ? [] : [text];
    },
    answer() {
      if (head === undefined) return undefined;
      const tool_calls = [...calls.values()].map(({ id, ...named }) => ({ id, type: 'function', function: named }));
      const message = { content, refusal, reasoning, tool_calls };
      return { ...head, choices: [{ message, finish_reason }], usage };
    },
  };
}

const TERMINAL: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

function responsesCollector(): EventCollector {
  let last: JsonMembers | undefined;
  let isWhole = false;
  const items: unknown[] = [];
  /** Text of the unfinished item. */
  let words = '';
  return {
    take(event) {
      const { type, response, item, delta } = event;
      if (isJsonObject(response)) last = response;
      if (TERMINAL.has(type)) isWhole = true;
      if (type === 'response.output_item.done') {
        items.push(item);
        words = '';
      }
      if (type !== 'response.output_text.delta' || typeof delta !== 'string') return [];
      words += delta;
      return [delta];
    },
    answer() {
      if (last === undefined) return undefined;
      const { output } = last;
      if (Array.isArray(output) && output.length > 0) return last;
      // If a stream broke off, only its individual items are available.
      const open = words === '' ? [] : [{ type: 'message', content: words }];
      return { ...last, output: [...items, ...open] };
    },
    isWhole: () => isWhole,
  };
}
