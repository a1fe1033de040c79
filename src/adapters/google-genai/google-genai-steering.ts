import {
  isJsonObject,
  type JsonMembers,
  membersOf,
  numberOrUndefined,
  objectsIn,
  present,
  textOrEmpty,
  textOrUndefined,
} from '../../core/base/json.ts';
import { toJson } from '../../core/base/to-json.ts';
import type { Run } from '../../core/run/run.ts';
import { checkAdapter, type RefusalOptions } from '../host/adapter-options.ts';
import { fetchSteering, type ConversationApi } from '../host/fetch-steering.ts';
import { followed } from '../host/run-outcome.ts';
import { runTool, type ToolParts } from '../host/run-tool.ts';
import { type Fetch, eventStream, type AnswerStream } from '../host/steered-fetch.ts';
import type { AgentMessage } from '../../core/records/agent-message.ts';
import { type AnswerPart, answerOfParts, callPart } from '../host/answer-parts.ts';
import { plainContent, usageOf } from '../host/content-blocks.ts';
import type { ConversationAnswer, ShownResult } from '../host/conversation.ts';
import { issuedCall } from '../host/issued-call.ts';

export type GoogleGenAiOptions = RefusalOptions;

/** A call in an answer. The API may give it no id. */
export interface FunctionCall {
  readonly id?: string;
  readonly name?: string;
  readonly args?: Record<string, unknown>;
}

/** A result for the next request. */
export interface FunctionResponsePart {
  functionResponse: { id?: string; name: string; response: Record<string, unknown> };
}

/** A tool that the SDK calls itself, such as one of `mcpToTool`. */
export interface CallableTool {
  callTool(calls: never): Promise<unknown>;
}

/**
 * Steers one agent built on `@google/genai`. Use a separate client for the agent, because everything that passes through the
 * client belongs to the run. Model requests from within a tool belong to a child run.
 */
export interface GoogleGenAiSteering {
  /** Returns a `fetch` for `new GoogleGenAI({ httpOptions: { fetch } })` that records requests and answers and adds advice. */
  fetch(base?: Fetch): Fetch;
  /** Returns a tool for automatic function calling that records its calls and adds feedback to its results. */
  tool<Tool extends CallableTool>(tool: Tool): Tool;
  /**
   * Runs a call in a custom loop. An error of `execute` becomes the `error` of the response.
   *
   * @returns the part for the next request, with feedback as `feedback` of the response if there is any
   */
  runToolCall(call: FunctionCall, execute: (args: never) => unknown): Promise<FunctionResponsePart>;
  /** Waits for the agent's work, and passes its result or error on. After an error, the run ends with its outcome. */
  follow<Result>(work: PromiseLike<Result>): Promise<Result>;
}

/** Creates the steering, for any loop; see docs/google-genai.md. Throws CoxswainError "invalid-argument" for an option out of range. */
export function googleGenAiSteering(run: Run, options: GoogleGenAiOptions = {}): GoogleGenAiSteering {
  checkAdapter('googleGenAiSteering', run, options, { isError: true, isRefused: true });
  const hint = 'create the client with new GoogleGenAI({ httpOptions: { fetch: steering.fetch() } })';
  const steering = fetchSteering(run, generateContentApi, options, hint);
  return {
    fetch: steering.fetch,
    tool: (tool) => steeredTool(steering.toolParts('throw'), tool),
    async runToolCall(call, execute) {
      const { id, name = 'unknown' } = call;
      const { feedback, result, thrown } = await runTool(steering.toolParts('result'), {
        call: issuedCall(call),
        // The loop knows the type of its tool's arguments.
        run: () => execute((call.args ?? {}) as never),
      });
      // The API takes an object; `output` is what the model sees as the result.
      const output = result === undefined ? '' : toJson(result);
      const response = thrown === undefined ? { output } : { error: result };
      const advised = feedback === undefined ? response : { ...response, feedback };
      return { functionResponse: { ...(id === undefined ? {} : { id }), name, response: advised } };
    },
    follow: (work) => followed(run, work),
  };
}

/** The SDK gives a tool all calls of an answer at once. Each is recorded and advised on its own. */
function steeredTool<Tool extends CallableTool>(given: ToolParts, tool: Tool): Tool {
  const isError = (result: unknown): boolean => isJsonObject(result) && result['error'] !== undefined;
  const parts: ToolParts = { ...given, isError };
  const callOne = async (call: FunctionCall): Promise<readonly unknown[]> => {
    let answered: readonly unknown[] = [];
    const { feedback } = await runTool(parts, {
      call: issuedCall(call),
      run: async () => {
        // The SDK's list of calls, with one of them.
        const returned: unknown = await tool.callTool([call] as never);
        answered = Array.isArray(returned) ? returned : [returned];
        const responses = answered.flatMap((part) => responseOf(part) ?? []);
        return responses.length === 1 ? responses[0] : responses;
      },
    });
    return feedback === undefined ? answered : withFeedback(answered, feedback);
  };
  const callTool = async (calls: readonly FunctionCall[]): Promise<unknown> =>
    (await Promise.all(calls.map(callOne))).flat();
  return Object.create(tool, { callTool: { value: callTool, enumerable: true } });
}

function responseOf(part: unknown): JsonMembers | undefined {
  const response = isJsonObject(part) ? part['functionResponse'] : undefined;
  return isJsonObject(response) && isJsonObject(response['response']) ? response['response'] : undefined;
}

/** Adds the feedback to the last response among the parts. */
function withFeedback(parts: readonly unknown[], feedback: string): readonly unknown[] {
  const at = parts.findLastIndex((part) => responseOf(part) !== undefined);
  return parts.map((part, index) => {
    const response = responseOf(part);
    if (index !== at || response === undefined || !isJsonObject(part)) return part;
    const { functionResponse } = part;
    return Object.assign({}, part, {
      functionResponse: Object.assign({}, functionResponse, { response: { ...response, feedback } }),
    });
  });
}

/** `generateContent` and `streamGenerateContent` of the Gemini API and of Vertex AI. */
const generateContentApi: ConversationApi = {
  name: 'google-genai',
  path: /\/models\/[^/]+:(?:generateContent|streamGenerateContent)$/,
  answerOf,
  answerStream,
  itemsOf: ({ contents }) => (Array.isArray(contents) ? contents : undefined),
  systemOf: ({ systemInstruction }) =>
    objectsIn(membersOf(systemInstruction)['parts'])
      .map(({ text }) => textOrEmpty(text))
      .join('\n'),
  isModels: (item) => isJsonObject(item) && item['role'] === 'model',
  newsOf: (items) => {
    const contents = objectsIn(items).filter(({ role }) => role !== 'model');
    return {
      messages: contents.flatMap(messageOf),
      results: contents.flatMap((content) => partsOf(content).flatMap(resultOf)),
    };
  },
  withAdvice: (body, text) => {
    const contents: readonly unknown[] = Array.isArray(body['contents']) ? body['contents'] : [];
    // A message of its own: one with results of calls may hold nothing else.
    return { ...body, contents: [...contents, { role: 'user', parts: [{ text }] }] };
  },
  toolsOf: ({ tools }) => {
    const offered = objectsIn(tools);
    const declared = offered.flatMap(({ functionDeclarations }) => objectsIn(functionDeclarations));
    return {
      tools: declared.map(({ name }) => textOrUndefined(name) ?? 'unknown'),
      isClosed: offered.every((tool) => Object.keys(tool).every((name) => name === 'functionDeclarations')),
    };
  },
  modelOf: (_, url) => /\/models\/([^/]+):[A-Za-z]+$/.exec(url)?.[1],
};

function partsOf(content: unknown): readonly JsonMembers[] {
  return objectsIn(membersOf(content)['parts']);
}

function messageOf(content: JsonMembers): readonly AgentMessage[] {
  const blocks = partsOf(content)
    .filter((part) => !('functionResponse' in part))
    .map((part) => answerPart(part).block);
  return blocks.length === 0 ? [] : [{ role: 'user', content: plainContent(blocks) }];
}

function resultOf({ functionResponse }: JsonMembers): readonly ShownResult[] {
  if (!isJsonObject(functionResponse)) return [];
  const { id, name, response } = functionResponse;
  const { error, output } = membersOf(response);
  const result = error ?? output ?? response;
  // The API may give calls no ids.
  return [{ id: textOrEmpty(id), name: textOrEmpty(name), result, isError: error !== undefined && error !== null }];
}

function answerPart(part: JsonMembers): AnswerPart {
  const { functionCall, inlineData, text, thought } = part;
  if (typeof text === 'string') return { block: { type: thought === true ? 'reasoning' : 'text', text } };
  if (isJsonObject(functionCall)) return callPart(issuedCall(functionCall));
  const { data, mimeType } = membersOf(inlineData);
  if (typeof data !== 'string') return { block: { type: 'other', value: toJson(part) } };
  return { block: { type: 'image', mediaType: textOrUndefined(mimeType) ?? 'image/*', dataBase64: data } };
}

function answerOf(body: unknown): ConversationAnswer | undefined {
  if (!isJsonObject(body) || !('candidates' in body || 'promptFeedback' in body)) return undefined;
  const [candidate = {}] = objectsIn(body['candidates']);
  const { blockReason } = membersOf(body['promptFeedback']);
  const parts = partsOf(candidate['content']);
  const tokens = membersOf(body['usageMetadata']);
  const thoughts = numberOrUndefined(tokens['thoughtsTokenCount']);
  const candidates = numberOrUndefined(tokens['candidatesTokenCount']);
  return answerOfParts(parts.map(answerPart), {
    modelId: textOrUndefined(body['modelVersion']),
    stopReason: textOrUndefined(candidate['finishReason'])?.toLowerCase() ?? textOrUndefined(blockReason),
    usage: usageOf({
      inputTokens: tokens['promptTokenCount'],
      // Thoughts are counted separately from the output and have the same price.
      outputTokens: candidates === undefined ? thoughts : candidates + (thoughts ?? 0),
      cacheReadTokens: tokens['cachedContentTokenCount'],
      reasoningTokens: thoughts,
    }),
  });
}

function answerStream(): AnswerStream {
  let last: JsonMembers | undefined;
  let usage: unknown;
  let end: JsonMembers = {};
  const parts: JsonMembers[] = [];
  return eventStream({
    take(chunk) {
      last = { ...last, ...chunk };
      usage = chunk['usageMetadata'] ?? usage;
      const [candidate = {}] = objectsIn(chunk['candidates']);
      end = { ...end, ...candidate };
      const texts: string[] = [];
      for (const part of partsOf(candidate['content'])) {
        const before = parts.at(-1);
        const isMore = typeof part['text'] === 'string' && typeof before?.['text'] === 'string';
        if (isMore && before['thought'] === part['thought']) {
          parts[parts.length - 1] = {
            ...before,
            ...part,
            text: textOrEmpty(before['text']) + textOrEmpty(part['text']),
          };
        } else parts.push(part);
        if (typeof part['text'] === 'string' && part['thought'] !== true) texts.push(part['text']);
      }
      return texts;
    },
    answer() {
      if (last === undefined) return undefined;
      return {
        ...last,
        candidates: [{ ...end, content: { role: 'model', parts } }],
        ...present({ usageMetadata: usage }),
      };
    },
    isWhole: () => typeof end['finishReason'] === 'string',
  });
}
