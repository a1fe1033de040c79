import type { JsonObject } from '../core/base/json.ts';
import { chatAnswer } from './chat-answer.ts';
import {
  startFakeModelServer,
  type FakeModelServer,
  type FakeModelServerOptions,
  type ModelProtocol,
} from './fake-model-server.ts';
import { responsesAnswer } from './responses-answer.ts';

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
