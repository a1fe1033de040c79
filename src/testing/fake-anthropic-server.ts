import { textOrEmpty, type Json, type JsonObject } from '../core/base/json.ts';
import {
  startFakeModelServer,
  type FakeModelServer,
  type FakeModelServerOptions,
  type FakeModelAnswer,
  type ModelProtocol,
  pieces,
  type CompleteTurn,
  type ModelFinish,
} from './model-script.ts';

/**
 * Starts a fake server for Anthropic's Messages API: streaming and non-streaming responses, `count_tokens`, and the list of
 * models. Requests with tools are main requests of the agent. Requests without tools, such as for a title, receive a fixed text.
 */
export async function startFakeAnthropicServer(options: FakeModelServerOptions): Promise<FakeModelServer> {
  return await startFakeModelServer(messagesApi, options);
}

const messagesApi: ModelProtocol = {
  fixed({ method, path }) {
    if (path === '/v1/messages') return undefined;
    if (path === '/v1/messages/count_tokens') return { status: 200, body: { input_tokens: 100 } };
    if (path === '/v1/models') return { status: 200, body: { data: [], has_more: false } };
    // Clients send HEAD to check that the server is available.
    if (method === 'HEAD') return { status: 200, body: {} };
    return { status: 404, body: errorBody(404, `the fake has no ${path}`) };
  },
  isMain: ({ tools }) => Array.isArray(tools) && tools.length > 0,
  sideText: '{"title":"A title"}',
  answer(request, turn, id) {
    const message = messageOf(turn, request.body['model'] ?? null, id);
    if (request.body['stream'] !== true) return { kind: 'json', body: message };
    return { kind: 'stream', events: eventsOf(message, turn) } satisfies FakeModelAnswer;
  },
  fault: errorBody,
};

const STOP_REASONS: Readonly<Record<ModelFinish, string>> = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
};

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function errorBody(status: number, message: string): JsonObject {
  return { type: 'error', error: { type: ERROR_TYPES[status] ?? 'api_error', message } };
}

function messageOf(turn: CompleteTurn, model: Json, id: number): JsonObject {
  const futureFields = turn.fromTheFuture ? { future_field: { since: 'tomorrow' } } : {};
  const content: JsonObject[] = [
    ...(turn.fromTheFuture ? [{ type: 'future_block', future_field: 1 }] : []),
    ...(turn.text === undefined ? [] : [{ type: 'text', text: turn.text, ...futureFields }]),
    ...turn.calls.map((call) => ({
      type: 'tool_use',
      id: call.id,
      name: call.name,
      input: call.args,
      ...futureFields,
    })),
  ];
  return {
    id: `msg_fake_${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: STOP_REASONS[turn.finish],
    stop_sequence: null,
    usage: usageOf(turn),
    ...futureFields,
  };
}

function usageOf({ usage }: CompleteTurn): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cacheReadTokens,
  };
}

function eventsOf(message: JsonObject, turn: CompleteTurn): readonly string[] {
  const start = { ...message, content: [], stop_reason: null, usage: { ...usageOf(turn), output_tokens: 1 } };
  // `messageOf` created the content as a list of objects.
  const content = message['content'] as readonly JsonObject[];
  const events = [eventLines('message_start', { message: start })];
  for (const [index, block] of content.entries()) {
    events.push(eventLines('content_block_start', { index, content_block: emptyBlock(block) }));
    for (const delta of deltasOf(block)) events.push(eventLines('content_block_delta', { index, delta }));
    events.push(eventLines('content_block_stop', { index }));
  }
  events.push(
    eventLines('message_delta', {
      delta: { stop_reason: message['stop_reason'] ?? null, stop_sequence: null },
      usage: { output_tokens: turn.usage.outputTokens },
    }),
    eventLines('message_stop', {}),
  );
  return events;
}

function emptyBlock(block: JsonObject): JsonObject {
  if (block['type'] === 'text') return { ...block, text: '' };
  return block['type'] === 'tool_use' ? { ...block, input: {} } : block;
}

function deltasOf(block: JsonObject): readonly JsonObject[] {
  if (block['type'] === 'text') return pieces(textOrEmpty(block['text'])).map((text) => ({ type: 'text_delta', text }));
  if (block['type'] !== 'tool_use') return [];
  return pieces(JSON.stringify(block['input'])).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
}

function eventLines(type: string, data: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
