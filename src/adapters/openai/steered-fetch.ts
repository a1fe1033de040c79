import { messageOf } from '../../core/base/error.ts';
import type { OutgoingRequest } from '../host/advice-under-way.ts';
import type { Conversation } from '../host/conversation.ts';
import type { Guard } from '../host/guarded.ts';
import { troubleOf } from '../host/run-outcome.ts';
import { answerStream, type AnswerStream } from './answer-stream.ts';
import type { Fetch } from './sdk-shapes.ts';
import { answerOf, isUnfinished, unrecognisedEvent } from './to-events.ts';
import { watchedResponse, type BodyWatcher } from './watched-response.ts';

/** A request that is sent to the model, with its advice. */
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

/** Reports a complete answer to the run. */
export function takeAnswer(conversation: Conversation, body: unknown): void {
  const answer = answerOf(body);
  if (answer !== undefined && !isUnfinished(body)) conversation.answered(answer);
  else if (answer === undefined) conversation.run.emit(unrecognisedEvent('answer', body));
}

/** Reports an answer that broke off. Its received part is recorded as a message. Its calls never ran. */
function takeBroken(conversation: Conversation, body: unknown, error: unknown): void {
  const reason = error === undefined ? 'the answer was not read to its end' : messageOf(error);
  if (error !== undefined) conversation.troubled(troubleOf(error));
  const answer = answerOf(body);
  if (answer === undefined) return;
  conversation.run.emit({ type: 'message_end', message: { ...answer.message, errorMessage: reason } });
}
