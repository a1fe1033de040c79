import { isJsonObject, type JsonObject } from '../core/base/json.ts';
import type { FakeModelAnswer } from './fake-model-server.ts';
import { pieces, type CompleteTurn, type ModelFinish } from './model-script.ts';

const FINISH_REASONS: Readonly<Record<ModelFinish, string>> = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
};

/** Formats a turn as a response of OpenAI's chat completions. @param id  unique on this server */
export function chatAnswer(request: JsonObject, turn: CompleteTurn, id: number): FakeModelAnswer {
  const futureFields = turn.fromTheFuture ? { future_field: { since: 'tomorrow' } } : {};
  const base = { id: `chatcmpl-fake-${id}`, created: 1_700_000_000, model: request['model'] ?? null, ...futureFields };
  const finish_reason = FINISH_REASONS[turn.finish];
  if (request['stream'] === true) return { kind: 'stream', events: chunksOf(request, turn, { base, finish_reason }) };
  const message: JsonObject = {
    role: 'assistant',
    content: turn.text ?? null,
    refusal: null,
    ...(turn.calls.length === 0
      ? {}
      : { tool_calls: turn.calls.map((call) => ({ ...callOf(call), ...futureFields })) }),
    ...futureFields,
  };
  const choices = [{ index: 0, message, finish_reason, logprobs: null, ...futureFields }];
  return { kind: 'json', body: { ...base, object: 'chat.completion', choices, usage: usageOf(turn) } };
}

function chunksOf(
  request: JsonObject,
  turn: CompleteTurn,
  { base, finish_reason }: { readonly base: JsonObject; readonly finish_reason: string },
): readonly string[] {
  const chunkLine = (fields: JsonObject): string =>
    `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', ...fields })}\n\n`;
  const deltaLine = (fields: JsonObject): string =>
    chunkLine({ choices: [{ index: 0, delta: fields, finish_reason: null }] });
  const options = request['stream_options'];
  const withUsage = isJsonObject(options) && options['include_usage'] === true;
  return [
    deltaLine({ role: 'assistant', content: turn.text === undefined ? null : '', refusal: null }),
    ...pieces(turn.text ?? '').map((content) => deltaLine({ content })),
    ...turn.calls.flatMap((call, index) => {
      const { function: requested, ...idAndType } = callOf(call);
      return [
        deltaLine({ tool_calls: [{ index, ...idAndType, function: { name: requested.name, arguments: '' } }] }),
        ...pieces(requested.arguments).map((part) =>
          deltaLine({ tool_calls: [{ index, function: { arguments: part } }] }),
        ),
      ];
    }),
    chunkLine({ choices: [{ index: 0, delta: {}, finish_reason }] }),
    ...(withUsage ? [chunkLine({ choices: [], usage: usageOf(turn) })] : []),
    'data: [DONE]\n\n',
  ];
}

function callOf(call: CompleteTurn['calls'][number]): {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
} {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.args) } };
}

function usageOf({ usage }: CompleteTurn): JsonObject {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}
