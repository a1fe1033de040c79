import {
  isJsonObject,
  jsonOf,
  membersOf,
  numberOrUndefined,
  objectsIn,
  present,
  textOrEmpty,
  textOrUndefined,
  type JsonMembers,
} from '../../core/base/json.ts';
import type { AgentMessage, ContentBlock } from '../../core/records/agent-message.ts';
import { claudeContentBlocks, textOfBlocks } from '../claude/content-blocks.ts';
import { tokensOf } from '../claude/read-message.ts';
import { toolResultOf } from '../claude/tool-response.ts';
import { plainContent } from '../host/content-blocks.ts';
import type { ConversationAnswer, ShownResult } from '../host/conversation.ts';
import type { ConversationApi } from '../host/fetch-steering.ts';
import { eventStream, type AnswerStream } from '../host/steered-fetch.ts';

/** Anthropic's Messages API, also of Bedrock and Vertex through the SDK's `fetch`. */
export const messagesApi: ConversationApi = {
  name: 'anthropic',
  path: /\/v1\/messages$/,
  answerOf,
  answerStream,
  itemsOf: ({ messages }) => (Array.isArray(messages) ? messages : undefined),
  isChained: ({ thread }) => membersOf(thread)['type'] === 'continue',
  systemOf: ({ system }) => textOfBlocks(claudeContentBlocks(system)),
  isModels: (item) => isJsonObject(item) && item['role'] === 'assistant',
  newsOf: (items) => {
    const users = objectsIn(items).filter(({ role }) => role === 'user');
    return {
      messages: users.flatMap(({ content }) => messageOf(content)),
      results: users.flatMap(({ content }) => objectsIn(content).flatMap(resultOf)),
    };
  },
  withAdvice,
  toolsOf: ({ tools }) => {
    const offered = objectsIn(tools);
    return {
      tools: offered.map(({ name, type }) => textOrUndefined(name) ?? textOrUndefined(type) ?? 'unknown'),
      isClosed: offered.every((tool) => isJsonObject(tool['input_schema'])),
    };
  },
  modelOf: ({ model }) => textOrUndefined(model),
};

function messageOf(content: unknown): readonly AgentMessage[] {
  const own = Array.isArray(content) ? content.filter((block) => resultOf(block).length === 0) : content;
  const blocks = claudeContentBlocks(own);
  return blocks.length === 0 ? [] : [{ role: 'user', content: plainContent(blocks) }];
}

function resultOf(block: unknown): readonly ShownResult[] {
  const { content, is_error: isError, tool_use_id: id, type } = membersOf(block);
  if (type !== 'tool_result' || typeof id !== 'string') return [];
  return [{ id, result: toolResultOf(content), isError: isError === true }];
}

/**
 * Adds a text block to the last message, after the results of calls, which must come first, or a message after a plain text. A
 * request that gives the beginning of the answer has the text in its system prompt.
 */
function withAdvice(body: JsonMembers, text: string): JsonMembers {
  const messages: readonly unknown[] = Array.isArray(body['messages']) ? body['messages'] : [];
  const last = membersOf(messages.at(-1));
  const block = { type: 'text', text };
  const { content } = last;
  if (last['role'] !== 'user') {
    const { system } = body;
    const blocks: readonly unknown[] = Array.isArray(system) ? system : claudeContentBlocks(system);
    return { ...body, system: [...blocks, block] };
  }
  if (!Array.isArray(content)) return { ...body, messages: [...messages, { role: 'user', content: text }] };
  return { ...body, messages: [...messages.slice(0, -1), { ...last, content: [...content, block] }] };
}

function answerOf(body: unknown): ConversationAnswer | undefined {
  if (!isJsonObject(body) || body['role'] !== 'assistant' || !Array.isArray(body['content'])) return undefined;
  const blocks = claudeContentBlocks(body['content']);
  const { error, model, stop_reason } = body;
  return {
    message: {
      role: 'assistant',
      content: plainContent(blocks),
      ...present({
        modelId: textOrUndefined(model),
        stopReason: textOrUndefined(stop_reason),
        usage: tokensOf(body['usage']),
        errorMessage: textOrUndefined(membersOf(error)['message']),
      }),
    },
    calls: error === undefined ? blocks.flatMap(callOf) : [],
  };
}

function callOf(block: ContentBlock): ConversationAnswer['calls'] {
  if (block.type !== 'tool_call') return [];
  const { args, id, name } = block;
  return [{ id, name, args, argsText: JSON.stringify(args) }];
}

interface OpenBlock {
  readonly start: JsonMembers;
  text: string;
  thinking: string;
  json: string;
}

/** Assembles a streamed message. */
function answerStream(): AnswerStream {
  let message: JsonMembers | undefined;
  let end: JsonMembers = {};
  let usage: JsonMembers = {};
  let error: unknown;
  let isWhole = false;
  const blocks = new Map<number, OpenBlock>();
  return eventStream({
    take(event) {
      const { type } = event;
      const index = numberOrUndefined(event['index']) ?? 0;
      const delta = membersOf(event['delta']);
      if (type === 'message_start') message = membersOf(event['message']);
      if (type === 'message_stop') isWhole = true;
      if (type === 'error') error = event['error'];
      if (type === 'message_delta') {
        end = { ...end, ...delta };
        usage = { ...usage, ...membersOf(event['usage']) };
      }
      if (type === 'content_block_start') {
        blocks.set(index, { start: membersOf(event['content_block']), text: '', thinking: '', json: '' });
      }
      const block = blocks.get(index);
      if (type !== 'content_block_delta' || block === undefined) return [];
      const text = textOrEmpty(delta['text']);
      block.text += text;
      block.thinking += textOrEmpty(delta['thinking']);
      block.json += textOrEmpty(delta['partial_json']);
      return text === '' ? [] : [text];
    },
    answer() {
      if (message === undefined) return undefined;
      const content = [...blocks.values()].map(wholeBlock);
      return {
        ...message,
        content,
        ...end,
        usage: { ...membersOf(message['usage']), ...usage },
        ...present({ error }),
      };
    },
    isWhole: () => isWhole,
  });
}

function wholeBlock({ json, start, text, thinking }: OpenBlock): JsonMembers {
  if (start['type'] === 'text') return { ...start, text: textOrEmpty(start['text']) + text };
  if (start['type'] === 'thinking') return { ...start, thinking: textOrEmpty(start['thinking']) + thinking };
  return json === '' ? start : { ...start, input: jsonOf(json) ?? json };
}
