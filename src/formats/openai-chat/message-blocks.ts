import { isJsonObject, type Json, type JsonMembers, listOf, membersOf, textOrUndefined } from '../../core/base/json.ts';
import { callArguments } from '../parts/source-call.ts';
import { asJson, sourceBlock, sourceResult } from '../parts/source-content.ts';
import type { AnswerPart, ToolAnswerShape } from '../parts/run-items.ts';

/** The blocks of a message, apart from the results of calls that stand among them. */
export interface MessageBlocks {
  readonly parts: readonly AnswerPart[];
  readonly results: readonly ToolAnswerShape[];
}

type Block = AnswerPart | { readonly type: 'result'; readonly result: ToolAnswerShape };
type BlockReader = (block: JsonMembers) => readonly Block[];

const UNNAMED = 'unknown';

function call(id: unknown, name: unknown, args: unknown): Block {
  return {
    type: 'call',
    call: { sourceId: textOrUndefined(id), name: textOrUndefined(name) ?? UNNAMED, args: callArguments(args) },
  };
}

function result(id: unknown, value: Json, more: Partial<ToolAnswerShape> = {}): Block {
  return { type: 'result', result: { sourceId: textOrUndefined(id), result: value, ...more } };
}

function reasoning(text: unknown): readonly Block[] {
  return typeof text === 'string' && text !== '' ? [{ type: 'reasoning', text }] : [];
}

/** `tool_use` and its kin of the Anthropic Messages API. */
const anthropicCall: BlockReader = ({ id, name, input }) => [call(id, name, input)];
const anthropicResult: BlockReader = ({ tool_use_id, content, is_error }) => [
  result(tool_use_id, sourceResult(content), { isError: is_error === true ? true : undefined }),
];

/** A part of a UI message of the AI SDK holds the call and, once there is one, its result. */
const uiPart: BlockReader = (part) => {
  const { type, toolCallId, toolName, state, input, output, errorText } = part;
  const name = toolName ?? String(type).replace(/^tool-/, '');
  const started = call(toolCallId, name, input ?? part.rawInput);
  if (state === 'output-error') return [started, result(toolCallId, asJson(errorText), { isError: true })];
  if (state === 'output-denied') return [started, result(toolCallId, 'denied', { isError: true, outcome: 'refused' })];
  return state === 'output-available' ? [started, result(toolCallId, asJson(output))] : [started];
};

/** The output of a tool in a message for a model of the AI SDK. */
const modelResult: BlockReader = ({ toolCallId, output, result: old, isError }) => {
  const { type, value, reason } = membersOf(output);
  if (type === 'execution-denied')
    return [result(toolCallId, asJson(reason ?? 'denied'), { isError: true, outcome: 'refused' })];
  const text = type === 'content' ? sourceResult(value) : asJson(isJsonObject(output) ? value : (old ?? output));
  const hasFailed = isError === true || type === 'error-text' || type === 'error-json';
  return [result(toolCallId, text, { isError: hasFailed ? true : undefined })];
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
  'tool-call': ({ toolCallId, toolName, input, args }) => [call(toolCallId, toolName, input ?? args)],
  'tool-result': modelResult,
  'tool-error': ({ toolCallId, error }) => [result(toolCallId, asJson(error), { isError: true })],
  'dynamic-tool': uiPart,
  'step-start': () => [],
  'tool-invocation': ({ toolInvocation }) => {
    const { toolCallId, toolName, args, state, result: value } = membersOf(toolInvocation);
    const started = call(toolCallId, toolName, args);
    return state === 'result' ? [started, result(toolCallId, asJson(value))] : [started];
  },
};

/** Kinds of blocks by their only member: Bedrock's Converse API, Gemini's contents. */
const BY_MEMBER: Readonly<Record<string, (value: JsonMembers, block: JsonMembers) => readonly Block[]>> = {
  toolUse: ({ toolUseId, name, input }) => [call(toolUseId, name, input)],
  toolResult: ({ toolUseId, content, status }) => [
    result(toolUseId, bedrockResult(content), { isError: status === 'error' ? true : undefined }),
  ],
  reasoningContent: ({ reasoningText }) => reasoning(membersOf(reasoningText).text),
  functionCall: ({ id, name, args }) => [call(id, name, args)],
  functionResponse: ({ id, response }) => {
    const { error, output, result: value } = membersOf(response);
    const hasFailed = error !== undefined && error !== null;
    return [
      result(id, asJson(hasFailed ? error : (output ?? value ?? response)), { isError: hasFailed ? true : undefined }),
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
      : [sourceBlock(list)];
  return {
    parts: blocks.flatMap((block) => (block.type === 'result' ? [] : [block])),
    results: blocks.flatMap((block) => (block.type === 'result' ? [block.result] : [])),
  };
}
