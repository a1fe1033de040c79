import {
  isJsonObject,
  membersOf,
  textOrEmpty,
  jsonOf,
  numberOrUndefined,
  objectsIn,
  present,
  textOrUndefined,
  type JsonMembers,
} from '../../core/base/json.ts';
import { messageOf } from '../../core/base/error.ts';
import { toJson } from '../../core/base/to-json.ts';
import type { Run } from '../../core/run/run.ts';
import { checkAdapter, type RefusalOptions } from '../host/adapter-options.ts';
import { fetchSteering, type ConversationApi } from '../host/fetch-steering.ts';
import { followed } from '../host/run-outcome.ts';
import { runTool, type ToolParts } from '../host/run-tool.ts';
import { type Fetch, eventStream, type AnswerStream } from '../host/steered-fetch.ts';
import type { AgentMessage } from '../../core/records/agent-message.ts';
import { claudeContentBlocks, textOfBlocks } from '../claude/content-blocks.ts';
import { tokensOf } from '../claude/read-message.ts';
import { toolResultOf } from '../claude/tool-response.ts';
import { type AnswerPart, answerOfParts, callPart } from '../host/answer-parts.ts';
import { issuedCall } from '../host/issued-call.ts';
import { plainContent } from '../host/content-blocks.ts';
import type { ConversationAnswer, ShownResult } from '../host/conversation.ts';

export type AnthropicOptions = RefusalOptions;

/** A call in an answer: a `tool_use` block. */
export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** A text part of a tool's result. */
export interface ResultText {
  type: 'text';
  text: string;
}

/** A tool's result for the next request. */
export interface ToolResult<Part = ResultText> {
  type: 'tool_result';
  tool_use_id: string;
  content: string | (Part | ResultText)[];
  is_error?: true;
}

/** A tool for `client.beta.messages.toolRunner`, such as one of `betaZodTool`. */
export interface RunnableTool {
  readonly name: string;
  readonly run: (args: never, context?: never) => unknown;
}

/**
 * Steers one agent built on `@anthropic-ai/sdk`. Use a separate client for the agent, because everything that passes through
 * the client belongs to the run. Model requests from within a tool belong to a child run.
 */
export interface AnthropicSteering {
  /** Returns a `fetch` for `new Anthropic({ fetch })` that records requests and answers and adds advice. */
  fetch(base?: Fetch): Fetch;
  /** Returns a tool for `toolRunner` that records its calls and adds feedback to its results. */
  tool<Tool extends RunnableTool>(tool: Tool): Tool;
  /** Runs a call in a custom loop. Returns the block for the next request, with feedback, or `is_error` if `execute` threw. */
  runToolCall<Part = ResultText>(call: ToolUse, execute: (input: never) => unknown): Promise<ToolResult<Part>>;
  /** Waits for the agent's work, and passes its result or error on. After an error, the run ends with its outcome. */
  follow<Result>(work: PromiseLike<Result>): Promise<Result>;
}

/** Creates the steering, for any loop; see docs/anthropic.md. Throws CoxswainError "invalid-argument" for an option out of range. */
export function anthropicSteering(run: Run, options: AnthropicOptions = {}): AnthropicSteering {
  checkAdapter('anthropicSteering', run, options, { isError: true, isRefused: true });
  const steering = fetchSteering(
    run,
    messagesApi,
    options,
    'create the client with new Anthropic({ fetch: steering.fetch() })',
  );
  return {
    fetch: steering.fetch,
    tool: (tool) => steeredTool(steering.toolParts('result'), tool),
    async runToolCall<Part>(call: ToolUse, execute: (input: never) => unknown): Promise<ToolResult<Part>> {
      // The loop knows the type of its tool's input.
      const work = (): unknown => execute(call.input as never);
      const { feedback, result, thrown } = await runTool(steering.toolParts('result'), {
        call: issuedCall(call),
        run: work,
      });
      return {
        type: 'tool_result',
        tool_use_id: call.id,
        // The parts come from the loop's own tool.
        content: withFeedback(result, feedback) as ToolResult<Part>['content'],
        ...(thrown === undefined ? {} : { is_error: true }),
      };
    },
    follow: (work) => followed(run, work),
  };
}

function steeredTool<Tool extends RunnableTool>(parts: ToolParts, tool: Tool): Tool {
  const run = async (args: never, context?: never): Promise<unknown> => {
    const toolUse = membersOf(membersOf(context)['toolUse']);
    const { id, input = args } = toolUse;
    const { feedback, result, thrown } = await runTool(parts, {
      call: issuedCall({ id, name: tool.name, args: input }),
      run: () => tool.run(args, context),
      isAborted: () => isAborted(context),
    });
    if (thrown !== undefined) throw feedback === undefined ? thrown.error : withAddition(thrown.error, feedback);
    return feedback === undefined ? result : withFeedback(result, feedback);
  };
  return { ...tool, run };
}

/** The same error with a text after its message, which the SDK makes the result. `content` is that of the SDK's `ToolError`. */
function withAddition(error: unknown, text: string): unknown {
  if (!(error instanceof Error)) return new Error(`${messageOf(error)}\n\n${text}`);
  return Object.create(error, {
    message: { value: `${error.message}\n\n${text}`, enumerable: false },
    ...('content' in error ? { content: { value: withFeedback(error.content, text), enumerable: true } } : {}),
  });
}

function isAborted(context: unknown): boolean {
  const { signal } = membersOf(context);
  return signal instanceof AbortSignal && signal.aborted;
}

/** Returns the content of a result: text, or the tool's own parts. Feedback follows it. */
function withFeedback(result: unknown, feedback: string | undefined): string | unknown[] {
  if (isPartList(result)) return feedback === undefined ? [...result] : [...result, { type: 'text', text: feedback }];
  const text = typeof result === 'string' ? result : result === undefined ? '' : JSON.stringify(toJson(result));
  return feedback === undefined ? text : `${text}\n\n${feedback}`;
}

function isPartList(result: unknown): result is readonly object[] {
  return Array.isArray(result) && result.length > 0 && result.every((part) => isJsonObject(part) && 'type' in part);
}

/** Anthropic's Messages API, also of Bedrock and Vertex through the SDK's `fetch`. */
const messagesApi: ConversationApi = {
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
      messages: users.flatMap(({ content }) => userMessageOf(content)),
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

function userMessageOf(content: unknown): readonly AgentMessage[] {
  const own = Array.isArray(content) ? content.filter((block) => resultOf(block).length === 0) : content;
  const blocks = claudeContentBlocks(own);
  return blocks.length === 0 ? [] : [{ role: 'user', content: plainContent(blocks) }];
}

function resultOf(block: unknown): readonly ShownResult[] {
  const { content, is_error: isError, tool_use_id: id, type } = membersOf(block);
  if (type !== 'tool_result' || typeof id !== 'string') return [];
  return [{ id, result: toolResultOf(content), isError: isError === true }];
}

/** Adds a text block after the results in the last message, a message after plain text, or, before a prefilled answer, system text. */
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
  const parts = blocks.map((block): AnswerPart => {
    return block.type === 'tool_call' && error === undefined ? callPart(issuedCall(block)) : { block };
  });
  return answerOfParts(parts, {
    modelId: textOrUndefined(model),
    stopReason: textOrUndefined(stop_reason),
    usage: tokensOf(body['usage']),
    errorMessage: textOrUndefined(membersOf(error)['message']),
  });
}

interface OpenBlock {
  readonly start: JsonMembers;
  text: string;
  thinking: string;
  json: string;
}

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
