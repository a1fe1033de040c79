import { isJsonObject, type JsonMembers, listOf, membersOf, textOrUndefined, type Json } from '../../core/base/json.ts';
import type { ImportItem } from '../importer.ts';
import type { AnswerPart, RunItems, ToolAnswerShape } from '../parts/run-items.ts';
import {
  sourceCall,
  plainest,
  sourceContent,
  sourceResult,
  sourceTimeMs,
  sourceUsage,
  asJson,
  sourceBlock,
  namedCall,
} from '../parts/source-content.ts';

interface MessageBlocks {
  readonly parts: readonly AnswerPart[];
  readonly results: readonly ToolAnswerShape[];
}

type Block = AnswerPart | { readonly type: 'result'; readonly result: ToolAnswerShape };
type BlockReader = (block: JsonMembers) => readonly Block[];

function callBlock(id: unknown, name: unknown, args: unknown): Block {
  return { type: 'call', call: namedCall(id, name, args) };
}

function resultBlock(id: unknown, value: Json, more: Partial<ToolAnswerShape> = {}): Block {
  return { type: 'result', result: { sourceId: textOrUndefined(id), result: value, ...more } };
}

function reasoning(text: unknown): readonly Block[] {
  return typeof text === 'string' && text !== '' ? [{ type: 'reasoning', text }] : [];
}

/** `tool_use` and its kin of the Anthropic Messages API. */
const anthropicCall: BlockReader = ({ id, name, input }) => [callBlock(id, name, input)];
const anthropicResult: BlockReader = ({ tool_use_id, content, is_error }) => {
  const result = sourceResult(content);
  const readsAsError = typeof result === 'string' && STILL_RUNS.test(result) ? false : undefined;
  return [resultBlock(tool_use_id, result, { isError: is_error === true ? true : undefined, readsAsError })];
};
/** Cline no longer waits for the command, which runs on. */
const STILL_RUNS = /^Command timed out after \d+ seconds\. Running in background\./;

/** A part of a UI message of the AI SDK holds the call and, once there is one, its result. */
const uiPart: BlockReader = (part) => {
  const { type, toolCallId, toolName, state, input, output, errorText } = part;
  const name = toolName ?? String(type).replace(/^tool-/, '');
  const started = callBlock(toolCallId, name, input ?? part.rawInput);
  if (state === 'output-error') return [started, resultBlock(toolCallId, asJson(errorText), { isError: true })];
  if (state === 'output-denied')
    return [started, resultBlock(toolCallId, 'denied', { isError: true, outcome: 'refused' })];
  return state === 'output-available' ? [started, resultBlock(toolCallId, asJson(output))] : [started];
};

/** The output of a tool in a message for a model of the AI SDK. */
const modelResult: BlockReader = ({ toolCallId, output, result: old, isError }) => {
  const { type, value, reason } = membersOf(output);
  if (type === 'execution-denied')
    return [resultBlock(toolCallId, asJson(reason ?? 'denied'), { isError: true, outcome: 'refused' })];
  const text = type === 'content' ? sourceResult(value) : asJson(isJsonObject(output) ? value : (old ?? output));
  const hasFailed = isError === true || type === 'error-text' || type === 'error-json';
  return [resultBlock(toolCallId, text, { isError: hasFailed ? true : undefined })];
};

/** Kinds of blocks by their `type`: the Anthropic Messages API (also Cline, Roo, Kilo, Amp), the AI SDK. */
const BY_TYPE: Readonly<Record<string, BlockReader>> = {
  tool_use: anthropicCall,
  server_tool_use: anthropicCall,
  mcp_tool_use: anthropicCall,
  tool_result: anthropicResult,
  mcp_tool_result: anthropicResult,
  web_search_tool_result: anthropicResult,
  redacted_thinking: () => [],
  reasoning: ({ text }) => reasoning(text),
  'tool-call': ({ toolCallId, toolName, input, args }) => [callBlock(toolCallId, toolName, input ?? args)],
  'tool-result': modelResult,
  'tool-error': ({ toolCallId, error }) => [resultBlock(toolCallId, asJson(error), { isError: true })],
  'dynamic-tool': uiPart,
  'step-start': () => [],
  'tool-invocation': ({ toolInvocation }) => {
    const { toolCallId, toolName, args, state, result: value } = membersOf(toolInvocation);
    const started = callBlock(toolCallId, toolName, args);
    return state === 'result' ? [started, resultBlock(toolCallId, asJson(value))] : [started];
  },
};

/** Kinds of blocks by their only member: Bedrock's Converse API, Gemini's contents. */
const BY_MEMBER: Readonly<Record<string, (value: JsonMembers, block: JsonMembers) => readonly Block[]>> = {
  toolUse: ({ toolUseId, name, input }) => [callBlock(toolUseId, name, input)],
  toolResult: ({ toolUseId, content, status }) => [
    resultBlock(toolUseId, bedrockResult(content), { isError: status === 'error' ? true : undefined }),
  ],
  reasoningContent: ({ reasoningText }) => reasoning(membersOf(reasoningText).text),
  functionCall: ({ id, name, args }) => [callBlock(id, name, args)],
  functionResponse: ({ id, response }) => {
    const { error, output, result: value } = membersOf(response);
    const hasFailed = error !== undefined && error !== null;
    return [
      resultBlock(id, asJson(hasFailed ? error : (output ?? value ?? response)), {
        isError: hasFailed ? true : undefined,
      }),
    ];
  },
};

function bedrockResult(content: unknown): Json {
  const parts = listOf(content).map((part) => {
    const { text, json } = membersOf(part);
    return typeof text === 'string' ? text : (json ?? part);
  });
  return parts.every((part) => typeof part === 'string') ? parts.join('\n') : asJson(parts);
}

function readBlock(block: unknown): readonly Block[] {
  if (!isJsonObject(block)) return [sourceBlock(block)];
  const { type, text, thought } = block;
  if (typeof type === 'string') {
    const read = Object.hasOwn(BY_TYPE, type) ? BY_TYPE[type] : undefined;
    if (read !== undefined) return read(block);
    return type.startsWith('tool-') && 'toolCallId' in block ? uiPart(block) : [sourceBlock(block)];
  }
  for (const [member, read] of Object.entries(BY_MEMBER)) {
    const value = block[member];
    if (isJsonObject(value)) return read(value, block);
  }
  if (typeof text === 'string') return thought === true ? reasoning(text) : [{ type: 'text', text }];
  return [sourceBlock(block)];
}

/** Reads the content or the parts of a message in the form of any of these APIs. */
export function messageBlocks({ content, parts }: JsonMembers): MessageBlocks {
  const list: unknown = Array.isArray(parts) && !Array.isArray(content) ? parts : content;
  const blocks = Array.isArray(list)
    ? list.flatMap((block: unknown) => readBlock(block))
    : list === undefined || list === null || list === ''
      ? []
      : [...readBlock(list)];
  return {
    parts: blocks.flatMap((block) => (block.type === 'result' ? [] : [block])),
    results: blocks.flatMap((block) => (block.type === 'result' ? [block.result] : [])),
  };
}

interface ChatDialect {
  /** Returns the error flag of a `tool` message. Default: no flag. */
  readonly errorFlag?: (message: JsonMembers) => boolean | undefined;
  /** Returns true if a `tool` message without a flag reports a failure. Default: `inferIsError` of its text. */
  readonly readsAsError?: (message: JsonMembers) => boolean;
  /** Returns true for a message of a simulated user's own tools. The agent does not see such messages. Default: false. */
  readonly isUsersTool?: (message: JsonMembers) => boolean;
}

const ROLES: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant', 'model', 'tool', 'function']);

export function isChatMessage(value: unknown): value is JsonMembers {
  return isJsonObject(value) && ROLES.has(value.role);
}

/** Session files of Cursor and Droid have the message, or its content, in a member. */
export function unwrapped(value: unknown): unknown {
  const { message, role, timestamp, type } = membersOf(value);
  const isWrapper = isJsonObject(message) && (ROLES.has(role) || (type === 'message' && ROLES.has(message['role'])));
  return isWrapper ? { role, timestamp, ...message } : value;
}

/** Returns the text of the first user message. It is the task if no other field contains one. */
export function firstUserText(messages: readonly unknown[]): string | undefined {
  for (const message of messages) {
    if (!isJsonObject(message) || message.role !== 'user') continue;
    const texts = messageBlocks(message).parts.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    if (texts.length > 0) return textOrUndefined(texts.join('\n'));
  }
  return undefined;
}

export function chatMessageItems(writer: RunItems, value: unknown, dialect: ChatDialect = {}): readonly ImportItem[] {
  if (!isChatMessage(value)) {
    writer.lost.add(isJsonObject(value) ? 'messages of unknown role' : 'entries that are not messages');
    return [];
  }
  const atMs = sourceTimeMs(value.timestamp ?? value.createdAt);
  switch (value.role) {
    case 'system':
    case 'developer':
      return [writer.message('system', sourceContent(value.content), atMs)];
    case 'user':
      return userItems(writer, value, atMs);
    case 'assistant':
    case 'model':
      return stepsOf(value).flatMap((step) => answerItems(writer, step, atMs));
    default:
      return toolItems(writer, value, dialect);
  }
}

/** A UI message of the AI SDK holds all answers to one prompt: each of its steps is one. What is known of the message stays with the last. */
function stepsOf(message: JsonMembers): readonly JsonMembers[] {
  const steps: unknown[][] = [];
  for (const part of Array.isArray(message.content) ? [] : listOf(message.parts)) {
    const isStart = membersOf(part).type === 'step-start';
    if (isStart || steps.length === 0) steps.push([]);
    if (!isStart) steps.at(-1)?.push(part);
  }
  const answers = steps.filter((parts) => parts.length > 0);
  const last = answers.pop();
  if (answers.length === 0 || last === undefined) return [message];
  const { model } = message;
  return [...answers.map((parts) => ({ role: 'assistant', parts, model })), { ...message, parts: last }];
}

function answerItems(writer: RunItems, message: JsonMembers, atMs: number | undefined): readonly ImportItem[] {
  const { parts, results } = messageBlocks(message);
  noteUnknown(writer, parts);
  // gptme keeps what it knows of an answer apart.
  const about =
    typeof message.model === 'string' || isJsonObject(message.usage) ? message : membersOf(message.metadata);
  const answer = writer.answer(
    {
      parts: [...reasoningParts(message), ...parts, ...callParts(message)],
      modelId: textOrUndefined(about.model),
      stopReason: textOrUndefined(message.finish_reason),
      usage: sourceUsage(
        typeof about.cost === 'number' ? { ...membersOf(about.usage), cost_usd: about.cost } : about.usage,
        textOrUndefined(about.model),
      ),
    },
    atMs,
  );
  return [...answer, ...results.flatMap((result) => writer.result(result, atMs))];
}

function userItems(writer: RunItems, message: JsonMembers, atMs: number | undefined): readonly ImportItem[] {
  const calls = listOf(message.tool_calls);
  for (const _ of calls) writer.skipped.add('tool calls of the simulated user');
  const { parts, results } = messageBlocks(message);
  noteUnknown(writer, parts);
  const items = results.flatMap((result) => writer.result(result, atMs));
  const content = plainest(parts.filter((part) => part.type !== 'call'));
  return content.length === 0 && calls.length + results.length > 0
    ? items
    : [...items, writer.message('user', content, atMs)];
}

function toolItems(writer: RunItems, message: JsonMembers, dialect: ChatDialect): readonly ImportItem[] {
  // tau2 puts parallel results into one message.
  const results = Array.isArray(message.tool_messages) ? (message.tool_messages as readonly unknown[]) : [message];
  return results.flatMap((result) => {
    const among = isJsonObject(result) ? messageBlocks(result).results : [];
    if (among.length > 0) return among.flatMap((one) => writer.result(one, sourceTimeMs(message.timestamp)));
    if (!isJsonObject(result)) {
      writer.lost.add('entries that are not messages');
      return [];
    }
    if (dialect.isUsersTool?.(result) === true) {
      writer.skipped.add('tool results of the simulated user');
      return [];
    }
    return writer.result(
      {
        sourceId: textOrUndefined(result.tool_call_id) ?? textOrUndefined(result.id),
        result: sourceResult(result.content),
        isError: dialect.errorFlag?.(result),
        readsAsError: dialect.readsAsError?.(result),
      },
      sourceTimeMs(result.timestamp),
    );
  });
}

function noteUnknown(writer: RunItems, parts: readonly AnswerPart[]): void {
  for (const part of parts) {
    if (part.type !== 'other') continue;
    const { type } = membersOf(part.value);
    writer.skipped.add(`blocks of type ${typeof type === 'string' ? type : 'unknown'}`);
  }
}

function reasoningParts(message: JsonMembers): readonly AnswerPart[] {
  const text = textOrUndefined(message.reasoning_content) ?? textOrUndefined(message.reasoning);
  return text === undefined ? [] : [{ type: 'reasoning', text }];
}

function callParts(message: JsonMembers): readonly AnswerPart[] {
  const legacy = isJsonObject(message.function_call) ? [{ function: message.function_call }] : [];
  return [...listOf(message.tool_calls), ...legacy].map((call): AnswerPart => ({
    type: 'call',
    call: sourceCall(call),
  }));
}
