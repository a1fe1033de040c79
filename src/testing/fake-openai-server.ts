import { type JsonObject, isJsonObject } from '../core/base/json.ts';
import {
  startFakeModelServer,
  type FakeModelServer,
  type FakeModelServerOptions,
  type ModelProtocol,
  type FakeModelAnswer,
  pieces,
  type CompleteTurn,
  type ModelFinish,
} from './model-script.ts';

const FINISH_REASONS: Readonly<Record<ModelFinish, string>> = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
};

function chatAnswer(request: JsonObject, turn: CompleteTurn, id: number): FakeModelAnswer {
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

/**
 * Starts a fake server for OpenAI's API: chat completions, Responses and the list of models, streaming and non-streaming. Every
 * request to a model is a main request. The base URL for clients is `${url}/v1`.
 */
export async function startFakeOpenAiServer(options: FakeModelServerOptions): Promise<FakeModelServer> {
  return await startFakeModelServer(openAiApi, options);
}

const openAiApi: ModelProtocol = {
  fixed({ method, path }) {
    if (method === 'POST' && (path === '/v1/chat/completions' || path === '/v1/responses')) return undefined;
    if (path === '/v1/models') return { status: 200, body: { object: 'list', data: [] } };
    return { status: 404, body: errorBody(404, `the fake has no ${method} ${path}`) };
  },
  isMain: () => true,
  sideText: 'A side answer.',
  answer(request, turn, id) {
    return request.path === '/v1/responses'
      ? responsesAnswer(request.body, turn, id)
      : chatAnswer(request.body, turn, id);
  },
  fault: errorBody,
};

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'invalid_request_error',
  429: 'rate_limit_exceeded',
};

function errorBody(status: number, message: string): JsonObject {
  return { error: { message, type: ERROR_TYPES[status] ?? 'server_error', param: null, code: null } };
}

function responsesAnswer(request: JsonObject, turn: CompleteTurn, id: number): FakeModelAnswer {
  const output = outputOf(turn, id);
  const response = responseOf(request, turn, { id, output });
  if (request['stream'] !== true) return { kind: 'json', body: response };
  return { kind: 'stream', events: eventsOf(response, output) };
}

function outputOf(turn: CompleteTurn, id: number): readonly JsonObject[] {
  const futureFields = turn.fromTheFuture ? { future_field: { since: 'tomorrow' } } : {};
  return [
    ...(turn.fromTheFuture ? [{ type: 'future_item', id: `future_fake_${id}`, status: 'completed' }] : []),
    ...turn.items,
    ...(turn.text === undefined
      ? []
      : [
          {
            id: `msg_fake_${id}`,
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: turn.text, annotations: [], logprobs: [] }],
            ...futureFields,
          },
        ]),
    ...turn.calls.map((call) => ({
      id: `fc_${call.id}`,
      type: 'function_call',
      call_id: call.id,
      name: call.name,
      arguments: JSON.stringify(call.args),
      status: 'completed',
      ...futureFields,
    })),
  ];
}

function responseOf(
  request: JsonObject,
  turn: CompleteTurn,
  { id, output }: { readonly id: number; readonly output: readonly JsonObject[] },
): JsonObject {
  const { usage } = turn;
  const isCut = turn.finish === 'length';
  return {
    id: `resp_fake_${id}`,
    object: 'response',
    created_at: 1_700_000_000,
    status: isCut ? 'incomplete' : 'completed',
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    error: null,
    instructions: request['instructions'] ?? null,
    metadata: {},
    model: request['model'] ?? null,
    output,
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: request['tools'] ?? [],
    top_p: 1,
    usage: {
      input_tokens: usage.inputTokens,
      input_tokens_details: { cached_tokens: usage.cacheReadTokens },
      output_tokens: usage.outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.inputTokens + usage.outputTokens,
    },
    ...(turn.fromTheFuture ? { future_field: { since: 'tomorrow' } } : {}),
  };
}

function eventsOf(response: JsonObject, output: readonly JsonObject[]): readonly string[] {
  let sequence_number = 0;
  const eventLines = (type: string, data: JsonObject): string => {
    const text = `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...data })}\n\n`;
    sequence_number += 1;
    return text;
  };
  const startedResponse = { ...response, status: 'in_progress', output: [], usage: null };
  const events = [
    eventLines('response.created', { response: startedResponse }),
    eventLines('response.in_progress', { response: startedResponse }),
  ];
  for (const [output_index, item] of output.entries()) {
    const position = { item_id: item['id'] ?? null, output_index };
    events.push(eventLines('response.output_item.added', { output_index, item: emptyItem(item) }));
    if (item['type'] === 'message') events.push(...textEvents(item, position, eventLines));
    if (item['type'] === 'function_call') {
      const whole = textIn(item, 'arguments');
      for (const delta of pieces(whole))
        events.push(eventLines('response.function_call_arguments.delta', { ...position, delta }));
      events.push(eventLines('response.function_call_arguments.done', { ...position, arguments: whole }));
    }
    events.push(eventLines('response.output_item.done', { output_index, item }));
  }
  events.push(eventLines(`response.${textIn(response, 'status')}`, { response }));
  return events;
}

function textEvents(
  item: JsonObject,
  position: JsonObject,
  event: (type: string, data: JsonObject) => string,
): readonly string[] {
  // `outputOf` created the content: one text part.
  const [part = {}] = item['content'] as readonly JsonObject[];
  const text = textIn(part, 'text');
  const place = { ...position, content_index: 0 };
  return [
    event('response.content_part.added', { ...place, part: { ...part, text: '' } }),
    ...pieces(text).map((delta) => event('response.output_text.delta', { ...place, delta, logprobs: [] })),
    event('response.output_text.done', { ...place, text, logprobs: [] }),
    event('response.content_part.done', { ...place, part }),
  ];
}

function emptyItem(item: JsonObject): JsonObject {
  if (item['type'] === 'message') return { ...item, status: 'in_progress', content: [] };
  return item['type'] === 'function_call' ? { ...item, status: 'in_progress', arguments: '' } : item;
}

function textIn(item: JsonObject, field: string): string {
  const value = item[field];
  return typeof value === 'string' ? value : '';
}
