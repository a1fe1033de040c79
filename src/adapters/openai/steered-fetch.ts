import type { OutgoingRequest } from '../host/advice-under-way.ts';
import type { Conversation } from '../host/conversation.ts';
import type { Guard } from '../host/guarded.ts';
import { STREAM_LEFT, troubleOf } from '../host/run-outcome.ts';
import type { Fetch } from './sdk-shapes.ts';
import { answerOf, isUnfinished, unrecognisedEvent } from './to-events.ts';
import { type JsonMembers, membersOf, objectsIn, textOrEmpty, isJsonObject, jsonOf } from '../../core/base/json.ts';

interface AnswerStream {
  /**
   * Adds text of the body.
   *
   * @returns the parts of the answer text in it
   */
  take(text: string): readonly string[];
  /** Returns the answer received up to now, in the format of an unstreamed answer. Undefined before its first part. */
  answer(): unknown;
  /** Returns true if the answer is complete. */
  isWhole(): boolean;
}

/**
 * Assembles the server-sent events of chat completions or Responses.
 *
 * Cost: each event's JSON is decoded once.
 */
export function answerStream(): AnswerStream {
  const chat = chatCollector();
  const responses = responsesCollector();
  let unparsedText = '';
  let isDone = false;
  const eventParts = (data: string): readonly string[] => {
    if (data === '[DONE]') {
      isDone = true;
      return [];
    }
    const value = jsonOf(data);
    if (!isJsonObject(value)) return [];
    return Array.isArray(value['choices']) ? chat.take(value) : responses.take(value);
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
    answer: () => responses.answer() ?? chat.answer(),
    isWhole: () => isDone || responses.isWhole(),
  };
}

interface Collector {
  take(event: JsonMembers): readonly string[];
  answer(): unknown;
}

/** A call in a streamed chat message. Its arguments arrive in parts. */
interface CallInPieces {
  id: unknown;
  name: string;
  arguments: string;
}

function chatCollector(): Collector {
  let head: JsonMembers | undefined;
  let usage: unknown;
  let finish_reason: unknown;
  let content = '';
  let refusal = '';
  let reasoning = '';
  const calls = new Map<unknown, CallInPieces>();
  const takeCall = (piece: JsonMembers): void => {
    const call = calls.get(piece['index']) ?? { id: undefined, name: '', arguments: '' };
    const functionFields = membersOf(piece['function']);
    call.id = piece['id'] ?? call.id;
    call.name += textOrEmpty(functionFields['name']);
    call.arguments += textOrEmpty(functionFields['arguments']);
    calls.set(piece['index'], call);
  };
  return {
    take(chunk) {
      head ??= chunk;
      usage = chunk['usage'] ?? usage;
      const choice = firstOf(chunk['choices']);
      finish_reason = choice['finish_reason'] ?? finish_reason;
      const delta = membersOf(choice['delta']);
      const text = textOrEmpty(delta['content']);
      content += text;
      refusal += textOrEmpty(delta['refusal']);
      reasoning += textOrEmpty(delta['reasoning_content']) + textOrEmpty(delta['reasoning']);
      for (const piece of objectsIn(delta['tool_calls'])) takeCall(piece);
      return text === '' ? [] : [text];
    },
    answer() {
      if (head === undefined) return undefined;
      const tool_calls = [...calls.values()].map(({ id, ...named }) => ({ id, type: 'function', function: named }));
      const message = { content, refusal, reasoning, tool_calls };
      return { ...head, choices: [{ message, finish_reason }], usage };
    },
  };
}

const TERMINAL: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

function responsesCollector(): Collector & { isWhole(): boolean } {
  let last: JsonMembers | undefined;
  let isWhole = false;
  const items: unknown[] = [];
  let words = '';
  return {
    take(event) {
      const { type, response, item, delta } = event;
      if (isJsonObject(response)) last = response;
      if (TERMINAL.has(type)) isWhole = true;
      if (type === 'response.output_item.done') {
        items.push(item);
        words = '';
      }
      if (type !== 'response.output_text.delta' || typeof delta !== 'string') return [];
      words += delta;
      return [delta];
    },
    answer() {
      if (last === undefined) return undefined;
      const { output } = last;
      if (Array.isArray(output) && output.length > 0) return last;
      // If a stream broke off, only its individual items are available.
      const open = words === '' ? [] : [{ type: 'message', content: words }];
      return { ...last, output: [...items, ...open] };
    },
    isWhole: () => isWhole,
  };
}

function firstOf(value: unknown): JsonMembers {
  return objectsIn(value).find((item) => (item['index'] ?? 0) === 0) ?? {};
}

export interface SteeredRequest {
  readonly conversation: Conversation;
  readonly outgoing: OutgoingRequest;
  /** The body to send. Undefined sends the body unchanged. */
  readonly edited: object | undefined;
  /** How the advice reaches the model. */
  readonly channel: string;
}

/** Dependencies of `steeredFetch`. */
export interface SteeredFetchParts {
  /** Prepares the body of a model request. Undefined for other requests. */
  readonly prepare: (bodyText: string) => SteeredRequest | undefined;
  readonly guard: Guard;
}

const MODEL_PATH = /\/(?:chat\/completions|responses)$/;

/**
 * Creates a `fetch` that reports the traffic between a client and a model to a run. The request is reported before it is sent.
 * The answer is reported while it arrives, streamed or not. Other requests pass unchanged. Errors are those of `base`.
 */
export function steeredFetch(base: Fetch, parts: SteeredFetchParts): Fetch {
  const { guard, prepare } = parts;
  return async (input, init) => {
    const bodyText = modelBody(input, init);
    const steeredRequest = bodyText === undefined ? undefined : guard('openai request', () => prepare(bodyText));
    if (steeredRequest === undefined) return base(input, init);
    const { conversation, outgoing, edited, channel } = steeredRequest;
    await conversation.run.ready();
    let response: Response;
    try {
      response = await base(input, edited === undefined ? init : { ...init, body: JSON.stringify(edited) });
    } catch (error) {
      guard('openai request', () => outgoing.failed(troubleOf(error)));
      throw error;
    }
    return guard(
      'openai answer',
      () => {
        if (!response.ok) {
          outgoing.failed({ outcome: 'error', reason: `the model's server answered ${response.status}` });
          return response;
        }
        outgoing.accepted(channel);
        return watchedResponse(response, answerWatcher(conversation, response, guard));
      },
      response,
    );
  };
}

/** Returns the body of a model request. Undefined for any other request. */
function modelBody(input: Parameters<Fetch>[0], init: Parameters<Fetch>[1]): string | undefined {
  if (init?.method?.toUpperCase() !== 'POST' || typeof init.body !== 'string') return undefined;
  const url = typeof input === 'string' || input instanceof URL ? String(input) : input.url;
  return MODEL_PATH.test(url.replace(/[?#].*$/, '')) ? init.body : undefined;
}

function answerWatcher(conversation: Conversation, response: Response, guard: Guard): BodyWatcher {
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
  return isStream ? streamWatcher(conversation, answerStream(), guard) : jsonWatcher(conversation, guard);
}

function jsonWatcher(conversation: Conversation, guard: Guard): BodyWatcher {
  let text = '';
  return {
    take(more) {
      text += more;
    },
    end: () => guard('openai answer', () => takeAnswer(conversation, parseJsonOrText(text))),
    broken: (error) => guard('openai answer', () => takeBroken(conversation, undefined, error)),
  };
}

function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function streamWatcher(conversation: Conversation, stream: AnswerStream, guard: Guard): BodyWatcher {
  let isRecorded = false;
  const takeOnce = (): void => {
    if (isRecorded) return;
    isRecorded = true;
    takeAnswer(conversation, stream.answer() ?? null);
  };
  return {
    take: (text) =>
      guard('openai stream', () => {
        for (const delta of stream.take(text)) conversation.run.emit({ type: 'message_update', delta });
        // Report the answer before the reader sees its end, because the reader may then run tools at once and stop reading.
        if (stream.isWhole()) takeOnce();
      }),
    end: () => guard('openai stream', takeOnce),
    broken: (error) =>
      guard('openai stream', () => {
        if (isRecorded) return;
        isRecorded = true;
        takeBroken(conversation, stream.answer(), error);
      }),
  };
}

export function takeAnswer(conversation: Conversation, body: unknown): void {
  const answer = answerOf(body);
  if (answer !== undefined && !isUnfinished(body)) conversation.answered(answer);
  else if (answer === undefined) conversation.run.emit(unrecognisedEvent('answer', body));
}

/** Reports an answer that broke off. Its received part is recorded as a message. Its calls never ran. */
function takeBroken(conversation: Conversation, body: unknown, error: unknown): void {
  const trouble = error === undefined ? STREAM_LEFT : troubleOf(error);
  const { reason } = trouble;
  conversation.troubled(trouble);
  const answer = answerOf(body);
  if (answer === undefined) return;
  conversation.run.emit({ type: 'message_end', message: { ...answer.message, errorMessage: reason } });
}

/** Observes a body while it passes. An exception in a method breaks the body. */
interface BodyWatcher {
  take(text: string): void;
  /** Called when the body has ended, before its reader is notified. */
  end(): void;
  /** Called when the body broke. The error is undefined if its reader cancelled it. */
  broken(error: unknown): void;
}

/**
 * Returns the same response with an observed body. The body is not read ahead of its reader and is not delayed. Errors pass
 * unchanged. A body that is not a web stream is not observed.
 */
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
