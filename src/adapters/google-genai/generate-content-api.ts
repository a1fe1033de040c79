import {
  isJsonObject,
  membersOf,
  numberOrUndefined,
  objectsIn,
  present,
  textOrEmpty,
  textOrUndefined,
  type JsonMembers,
} from '../../core/base/json.ts';
import { toJson } from '../../core/base/to-json.ts';
import type { AgentMessage, ContentBlock } from '../../core/records/agent-message.ts';
import { plainContent, usageOf } from '../host/content-blocks.ts';
import type { ConversationAnswer, ShownResult } from '../host/conversation.ts';
import type { ConversationApi } from '../host/fetch-steering.ts';
import type { IssuedCall } from '../host/issued-call.ts';
import { eventStream, type AnswerStream } from '../host/steered-fetch.ts';

/** `generateContent` and `streamGenerateContent` of the Gemini API and of Vertex AI. */
export const generateContentApi: ConversationApi = {
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
    .map(blockOf);
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

function blockOf(part: JsonMembers): ContentBlock {
  const { inlineData, text, thought } = part;
  if (typeof text === 'string') return thought === true ? { type: 'reasoning', text } : { type: 'text', text };
  const call = callOf(part);
  if (call !== undefined) return { type: 'tool_call', id: call.id, name: call.name, args: toJson(call.args) };
  const { data, mimeType } = membersOf(inlineData);
  if (typeof data !== 'string') return { type: 'other', value: toJson(part) };
  return { type: 'image', mediaType: textOrUndefined(mimeType) ?? 'image/*', dataBase64: data };
}

function callOf({ functionCall }: JsonMembers): IssuedCall | undefined {
  if (!isJsonObject(functionCall)) return undefined;
  const { args = {}, id, name } = functionCall;
  return {
    id: textOrEmpty(id),
    name: textOrUndefined(name) ?? 'unknown',
    args,
    argsText: JSON.stringify(toJson(args)),
  };
}

function answerOf(body: unknown): ConversationAnswer | undefined {
  if (!isJsonObject(body) || !('candidates' in body || 'promptFeedback' in body)) return undefined;
  const [candidate = {}] = objectsIn(body['candidates']);
  const { blockReason } = membersOf(body['promptFeedback']);
  const parts = partsOf(candidate['content']);
  const tokens = membersOf(body['usageMetadata']);
  const thoughts = numberOrUndefined(tokens['thoughtsTokenCount']);
  const candidates = numberOrUndefined(tokens['candidatesTokenCount']);
  return {
    message: {
      role: 'assistant',
      content: plainContent(parts.map(blockOf)),
      ...present({
        modelId: textOrUndefined(body['modelVersion']),
        stopReason: textOrUndefined(candidate['finishReason'])?.toLowerCase() ?? textOrUndefined(blockReason),
        usage: usageOf({
          inputTokens: tokens['promptTokenCount'],
          // Thoughts are counted separately from the output and have the same price.
          outputTokens: candidates === undefined ? thoughts : candidates + (thoughts ?? 0),
          cacheReadTokens: tokens['cachedContentTokenCount'],
          reasoningTokens: thoughts,
        }),
      }),
    },
    calls: parts.flatMap((part) => callOf(part) ?? []),
  };
}

/** Joins the chunks of a streamed answer. */
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
