import { APICallError } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { MockLanguageModelV3 } from 'ai-6/test';
import { isJsonObject } from '../src/core/base/json.ts';
import type { NeutralMessage, NeutralRequest } from '../test/support/adapter-contract/adapter-harness.ts';
import {
  type CompleteTurn,
  type ModelFault,
  type ModelFunction,
  type ModelScript,
  completeTurn,
  pieces,
  scriptedAnswer,
} from '../src/testing/model-script.ts';

type ModelV4 = ConstructorParameters<typeof MockLanguageModelV4>[0];
type Options = Parameters<MockLanguageModelV4['doGenerate']>[0];
type Generated = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;
type StreamPart =
  Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;

/** How a scripted model is set up. */
export interface ScriptedAiModelOptions {
  readonly script: ModelScript | ModelFunction;
  /** How long each answer takes; default 0. */
  readonly answerAfterMs?: number;
  /** Called with the 0-based index of each request before the answer. */
  readonly onRequest?: (index: number) => void;
}

/** A scripted model of the SDK's own test package, and what it was asked. */
export interface ScriptedAiModel<Model> {
  readonly model: Model;
  /** In order, as they came. */
  readonly requests: readonly Options[];
}

/** For ai 7. */
export function scriptedAiModel(options: ScriptedAiModelOptions): ScriptedAiModel<MockLanguageModelV4> {
  const { requests, answers } = scripted(options);
  return { model: new MockLanguageModelV4(answers), requests };
}

/** For ai 6: the same answers, which its specification takes as they are. */
export function scriptedAi6Model(options: ScriptedAiModelOptions): ScriptedAiModel<MockLanguageModelV3> {
  const { requests, answers } = scripted(options);
  // Scripted answers are the same in both specifications.
  const same = answers as unknown as ConstructorParameters<typeof MockLanguageModelV3>[0];
  return { model: new MockLanguageModelV3(same), requests };
}

function scripted(options: ScriptedAiModelOptions): {
  readonly requests: Options[];
  readonly answers: NonNullable<ModelV4>;
} {
  const requests: Options[] = [];
  const answer = async (request: Options): Promise<CompleteTurn | ModelFault> => {
    const index = requests.push(request) - 1;
    const scriptAnswer = scriptedAnswer(options.script, request, index);
    options.onRequest?.(index);
    await pause(scriptAnswer.answerAfterMs ?? options.answerAfterMs ?? 0, request.abortSignal);
    return 'error' in scriptAnswer ? scriptAnswer : completeTurn(scriptAnswer, index);
  };
  return {
    requests,
    answers: {
      modelId: 'scripted-model',
      doGenerate: async (request) => {
        const turn = await answer(request);
        if ('error' in turn) throw faultOf(turn);
        return generated(turn);
      },
      doStream: async (request) => {
        const turn = await answer(request);
        const breaks = 'error' in turn;
        if (breaks && turn.error.isTruncated !== true) throw faultOf(turn);
        return { stream: streamOf(breaks ? brokenParts() : partsOf(turn), breaks) };
      },
    },
  };
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  if (ms === 0) return;
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      // Like a provider's fetch.
      reject(signal.reason);
    });
  });
}

function faultOf({ error }: ModelFault): Error {
  if (error.isTruncated === true) return new TypeError('terminated');
  const statusCode = error.status ?? 500;
  return new APICallError({
    message: error.message ?? 'the scripted model fails',
    url: 'http://127.0.0.1/scripted',
    requestBodyValues: {},
    statusCode,
    isRetryable: error.mayRetry === true,
  });
}

function generated(turn: CompleteTurn): Generated {
  const content: unknown[] = [
    ...(turn.fromTheFuture ? [{ type: 'future-part', since: 'tomorrow' }] : []),
    ...(turn.text === undefined ? [] : [{ type: 'text', text: turn.text, ...futureOf(turn) }]),
    ...turn.calls.map((call) => callPart(turn, call)),
  ];
  const result = {
    content,
    ...endOf(turn),
    warnings: [],
    response: { modelId: 'scripted-model-2' },
    ...futureOf(turn),
  };
  // On purpose also what no specification knows yet.
  return result as unknown as Generated;
}

function partsOf(turn: CompleteTurn): readonly unknown[] {
  const future = futureOf(turn);
  return [
    { type: 'stream-start', warnings: [], ...future },
    { type: 'response-metadata', modelId: 'scripted-model-2' },
    ...(turn.fromTheFuture ? [{ type: 'future-part', since: 'tomorrow' }] : []),
    ...(turn.text === undefined
      ? []
      : [
          { type: 'text-start', id: 't', ...future },
          ...pieces(turn.text).map((delta) => Object.assign({ type: 'text-delta', id: 't', delta }, future)),
          { type: 'text-end', id: 't', ...future },
        ]),
    ...turn.calls.map((call) => callPart(turn, call)),
    { type: 'finish', ...endOf(turn), ...future },
  ];
}

function brokenParts(): readonly unknown[] {
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'All' },
  ];
}

function streamOf(parts: readonly unknown[], breaks: boolean): ReadableStream<StreamPart> {
  let next = 0;
  const stream = new ReadableStream<unknown>({
    pull(controller) {
      if (next < parts.length) controller.enqueue(parts[next]);
      else if (breaks) controller.error(new TypeError('terminated'));
      else controller.close();
      next += 1;
    },
  });
  // On purpose also parts that no specification knows yet.
  return stream as ReadableStream<StreamPart>;
}

function callPart(turn: CompleteTurn, { id, name, args }: CompleteTurn['calls'][number]): object {
  return { type: 'tool-call', toolCallId: id, toolName: name, input: JSON.stringify(args), ...futureOf(turn) };
}

function endOf({ finish, usage }: CompleteTurn): object {
  const { inputTokens, outputTokens, cacheReadTokens } = usage;
  return {
    finishReason: { unified: finish, raw: finish },
    usage: {
      inputTokens: {
        total: inputTokens,
        noCache: inputTokens - cacheReadTokens,
        cacheRead: cacheReadTokens,
        cacheWrite: 0,
      },
      outputTokens: { total: outputTokens, text: outputTokens, reasoning: 0 },
    },
  };
}

function futureOf({ fromTheFuture }: CompleteTurn): object {
  return fromTheFuture ? { futureField: { since: 'tomorrow' } } : {};
}

/** A request as a provider would put it on the wire, as far as it does not change by itself. */
export function neutralAiRequest(request: Options): NeutralRequest {
  const { prompt, tools, toolChoice, maxOutputTokens } = request;
  const raw = JSON.stringify({ maxOutputTokens, tools, toolChoice, prompt });
  const messages = prompt.flatMap(({ role, content }): readonly NeutralMessage[] =>
    typeof content === 'string' ? [{ role, text: content }] : content.map((part) => neutralPart(role, part)),
  );
  return { raw, messages };
}

function neutralPart(role: string, part: unknown): NeutralMessage {
  const fields = isJsonObject(part) ? part : {};
  const toolCallId = typeof fields['toolCallId'] === 'string' ? fields['toolCallId'] : undefined;
  if (fields['type'] === 'tool-result') {
    const output = isJsonObject(fields['output']) ? fields['output'] : {};
    const isError = String(output['type']).startsWith('error');
    return { role, ...(toolCallId === undefined ? {} : { toolCallId }), text: outputText(output), isError };
  }
  if (fields['type'] === 'tool-call') {
    const text = `${String(fields['toolName'])} ${JSON.stringify(fields['input'])}`;
    return { role, ...(toolCallId === undefined ? {} : { toolCallId }), text };
  }
  return { role, text: typeof fields['text'] === 'string' ? fields['text'] : JSON.stringify(part) };
}

/** As providers write an output on the wire: a text as it is, JSON as its text. */
function outputText({ type, value, reason }: Readonly<Record<string, unknown>>): string {
  if (type === 'execution-denied') return String(reason);
  if (type === 'content' && Array.isArray(value)) {
    return value.map((part: unknown) => (isJsonObject(part) ? String(part['text']) : '')).join('\n\n');
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}
