import { isJsonObject, jsonOf, type JsonMembers } from '../../core/base/json.ts';
import { toJson } from '../../core/base/to-json.ts';
import type { AgentEvent } from '../../core/records/agent-event.ts';
import type { OutgoingRequest } from './advice-under-way.ts';
import type { Conversation, ConversationAnswer } from './conversation.ts';
import type { Guard } from './guarded.ts';
import { STREAM_LEFT, troubleOf } from './run-outcome.ts';

/** `fetch` as the SDKs call it. */
export type Fetch = typeof globalThis.fetch;

/** How a provider's API says what a model answers. */
export interface ModelApi {
  /** Name in faults and in records of unknown content. */
  readonly name: string;
  /** Matches the URL of a model request, without its query. */
  readonly path: RegExp;
  /** Reads a whole answer from JSON. Undefined for any other shape. */
  readonly answerOf: (body: unknown) => ConversationAnswer | undefined;
  readonly answerStream: () => AnswerStream;
  /** Returns true for an answer that is still in progress and arrives separately. Default: never. */
  readonly isUnfinished?: (body: unknown) => boolean;
}

export interface AnswerStream {
  /** @returns the parts of the answer text in it */
  take(text: string): readonly string[];
  answer(): unknown;
  isWhole(): boolean;
}

export interface EventCollector {
  take(event: JsonMembers): readonly string[];
  answer(): unknown;
  isWhole(): boolean;
}

/** Cost: each event's JSON is decoded once. */
export function eventStream(collector: EventCollector): AnswerStream {
  let unparsedText = '';
  let isDone = false;
  const eventParts = (data: string): readonly string[] => {
    isDone ||= data === '[DONE]';
    const event = jsonOf(data);
    return isJsonObject(event) ? collector.take(event) : [];
  };
  return {
    take(text) {
      if (!text.includes('\n')) {
        unparsedText += text;
        return [];
      }
      const lines = (unparsedText + text).split('\n');
      unparsedText = lines.pop() ?? '';
      return lines.flatMap((line) => (line.startsWith('data:') ? eventParts(line.slice(5).trim()) : []));
    },
    answer: () => collector.answer(),
    isWhole: () => isDone || collector.isWhole(),
  };
}

export function unrecognisedEvent(api: Pick<ModelApi, 'name'>, what: string, value: unknown): AgentEvent {
  return { type: 'unrecognised', original: { kind: `${api.name}/${what}`, value: toJson(value) } };
}

/** A request that is sent to the model, with its advice. */
export interface SteeredRequest {
  readonly conversation: Conversation;
  readonly outgoing: OutgoingRequest;
  /** The body to send. Undefined sends the body unchanged. */
  readonly edited: object | undefined;
  readonly channel: string;
}

export interface SteeredFetchParts {
  readonly api: ModelApi;
  /** Prepares the body of a model request to this URL, without its query. Undefined for other requests. */
  readonly prepare: (bodyText: string, url: string) => SteeredRequest | undefined;
  readonly guard: Guard;
}

/** A request is reported before it is sent, an answer while it arrives. Other requests pass. Errors are those of `base`. */
export function steeredFetch(base: Fetch, parts: SteeredFetchParts): Fetch {
  const { api, guard, prepare } = parts;
  return async (input, init) => {
    const sent = modelBody(api, input, init);
    const steeredRequest =
      sent === undefined ? undefined : guard(`${api.name} request`, () => prepare(sent.bodyText, sent.url));
    if (steeredRequest === undefined) return base(input, init);
    const { conversation, outgoing, edited, channel } = steeredRequest;
    conversation.watch(init?.signal ?? undefined);
    await conversation.run.ready();
    let response: Response;
    try {
      response = await base(input, edited === undefined ? init : { ...init, body: JSON.stringify(edited) });
    } catch (error) {
      guard(`${api.name} request`, () => outgoing.failed(troubleOf(error)));
      throw error;
    }
    return guard(
      `${api.name} answer`,
      () => {
        if (!response.ok) {
          outgoing.failed({ outcome: 'error', reason: `the model's server answered ${response.status}` });
          return response;
        }
        outgoing.accepted(channel);
        return watchedResponse(response, answerWatcher(conversation, response, parts));
      },
      response,
    );
  };
}

/** Returns the body of a model request. Undefined for any other request. */
function modelBody(
  { path }: ModelApi,
  input: Parameters<Fetch>[0],
  init: Parameters<Fetch>[1],
): { readonly bodyText: string; readonly url: string } | undefined {
  if (init?.method?.toUpperCase() !== 'POST' || typeof init.body !== 'string') return undefined;
  const address = typeof input === 'string' || input instanceof URL ? String(input) : input.url;
  const url = address.replace(/[?#].*$/, '');
  return path.test(url) ? { bodyText: init.body, url } : undefined;
}

function answerWatcher(conversation: Conversation, response: Response, parts: SteeredFetchParts): BodyWatcher {
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
  return isStream ? streamWatcher(conversation, parts) : jsonWatcher(conversation, parts);
}

function jsonWatcher(conversation: Conversation, { api, guard }: SteeredFetchParts): BodyWatcher {
  let text = '';
  return {
    take(more) {
      text += more;
    },
    end: () => guard(`${api.name} answer`, () => takeAnswer(api, conversation, parseJsonOrText(text))),
    broken: (error) => guard(`${api.name} answer`, () => takeBroken(api, conversation, undefined, error)),
  };
}

function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function streamWatcher(conversation: Conversation, { api, guard }: SteeredFetchParts): BodyWatcher {
  const stream = api.answerStream();
  const where = `${api.name} stream`;
  let isRecorded = false;
  const takeOnce = (): void => {
    if (isRecorded) return;
    isRecorded = true;
    takeAnswer(api, conversation, stream.answer() ?? null);
  };
  return {
    take: (text) =>
      guard(where, () => {
        for (const delta of stream.take(text)) conversation.run.emit({ type: 'message_update', delta });
        // Report the answer before the reader sees its end, because the reader may then run tools at once and stop reading.
        if (stream.isWhole()) takeOnce();
      }),
    end: () => guard(where, takeOnce),
    broken: (error) =>
      guard(where, () => {
        if (isRecorded) return;
        isRecorded = true;
        takeBroken(api, conversation, stream.answer(), error);
      }),
  };
}

export function takeAnswer(api: ModelApi, conversation: Conversation, body: unknown): void {
  const answer = api.answerOf(body);
  if (answer === undefined) conversation.run.emit(unrecognisedEvent(api, 'answer', body));
  else if (api.isUnfinished?.(body) !== true) conversation.answered(answer);
}

/** Reports an answer that broke off. Its received part is recorded as a message. Its calls never ran. */
function takeBroken(api: ModelApi, conversation: Conversation, body: unknown, error: unknown): void {
  const trouble = error === undefined ? STREAM_LEFT : troubleOf(error);
  const { reason } = trouble;
  conversation.troubled(trouble);
  const answer = api.answerOf(body);
  if (answer === undefined) return;
  conversation.run.emit({ type: 'message_end', message: { ...answer.message, errorMessage: reason } });
}

/** Observes a body while it passes. An exception in a method breaks the body. */
interface BodyWatcher {
  take(text: string): void;
  end(): void;
  /** Called when the body broke. The error is undefined if its reader cancelled it. */
  broken(error: unknown): void;
}

/** The body is neither read ahead of its reader nor delayed. A body that is not a web stream is not observed. */
export function watchedResponse(response: Response, watcher: BodyWatcher): Response {
  const { body } = response;
  if (body === null || typeof body.getReader !== 'function') return response;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let hasNotified = false;
  const notifyOnce = (notify: () => void): void => {
    if (hasNotified) return;
    hasNotified = true;
    notify();
  };
  const passedStream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            notifyOnce(() => watcher.end());
            controller.close();
          } else {
            watcher.take(decoder.decode(value, { stream: true }));
            controller.enqueue(value);
          }
        } catch (error) {
          notifyOnce(() => watcher.broken(error));
          controller.error(error);
        }
      },
      async cancel(reason) {
        notifyOnce(() => watcher.broken(undefined));
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers, url } = response;
  const copy = new Response(passedStream, { status, statusText, headers });
  // A constructed response has no URL, but the SDK logs the URL.
  Object.defineProperty(copy, 'url', { value: url });
  return copy;
}
