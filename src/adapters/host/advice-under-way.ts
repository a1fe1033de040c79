import { placeAdvice, type AdviceHandle, type PlacedAdvice } from '../../core/run/advice-handle.ts';
import type { Trouble } from './run-outcome.ts';

/** A request to the model and the advice in it. */
export interface OutgoingRequest {
  /** Text to add to this request only. Undefined if there is no advice. */
  readonly text: string | undefined;
  /** Called when the model has received the request, by this channel. */
  accepted(channel: string): void;
  /** Called when the model did not receive the request. A retry contains the same text. */
  failed(trouble: Trouble): void;
}

interface FailedRequest {
  readonly key: unknown;
  readonly request: OutgoingRequest;
  /** Records its advice as undelivered, because there is no retry. */
  settle(): void;
}

/** Tracks advice that the model has not received yet. The advice is in a request, in a tool result, or queued for the next request. */
export class AdviceUnderWay {
  readonly #maxChars: number | undefined;
  #waitingAdvice: AdviceHandle[] = [];
  #placedAdvice: (readonly [PlacedAdvice, channel: string])[] = [];
  #failedRequest: FailedRequest | undefined;
  /** Requests of which no adapter has said yet whether the model received them. */
  readonly #open = new Set<OutgoingRequest>();
  #trouble: Trouble | undefined;

  constructor(maxChars?: number) {
    this.#maxChars = maxChars;
  }

  /** The last error that may have stopped the agent; cleared when a request succeeds. */
  get trouble(): Trouble | undefined {
    return this.#trouble;
  }

  /** Stores an error. The error ends the agent unless the agent continues. */
  troubled(trouble: Trouble): void {
    this.#trouble = trouble;
  }

  /** The advice of any other failed request is recorded as undelivered. */
  again(key: unknown): OutgoingRequest | undefined {
    const failedRequest = this.#failedRequest;
    this.#failedRequest = undefined;
    if (failedRequest !== undefined && failedRequest.key === key) return failedRequest.request;
    failedRequest?.settle();
    return undefined;
  }

  send(key: unknown, handles: readonly AdviceHandle[]): OutgoingRequest {
    const newAdvice = placeAdvice([...this.#waitingAdvice.splice(0), ...handles], this.#maxChars);
    const placedAdvice = this.#placedAdvice.splice(0);
    const request: OutgoingRequest = {
      text: newAdvice?.text,
      accepted: (channel) => {
        this.#open.delete(request);
        this.#trouble = undefined;
        for (const [advice, at] of placedAdvice.splice(0)) advice.delivered(at);
        newAdvice?.delivered(channel);
      },
      failed: (trouble) => {
        this.#open.delete(request);
        this.#failedRequest?.settle();
        this.#trouble = trouble;
        const settleFailed = (): void => {
          // The retry sends these results again.
          this.#placedAdvice.push(...placedAdvice.splice(0));
          newAdvice?.undelivered(trouble.reason);
        };
        this.#failedRequest = { key, request, settle: settleFailed };
      },
    };
    this.#open.add(request);
    return request;
  }

  /** @param atOnce  if true, the advice counts as delivered now; otherwise with the next request */
  place(handles: readonly AdviceHandle[], channel: string, atOnce: boolean): string | undefined {
    const advice = placeAdvice(handles, this.#maxChars);
    if (advice !== undefined && atOnce) advice.delivered(channel);
    else if (advice !== undefined) this.#placedAdvice.push([advice, channel]);
    return advice?.text;
  }

  wait(handles: readonly AdviceHandle[]): void {
    this.#waitingAdvice.push(...handles);
  }

  /** Takes over advice in tool results from another conversation that has the same history. */
  inherit(previous: AdviceUnderWay): void {
    this.#placedAdvice.push(...previous.#placedAdvice.splice(0));
  }

  /** Settles all advice. A request without an answer ended the agent. */
  close(reason: string): void {
    for (const request of this.#open) request.failed({ outcome: 'error', reason: 'the request got no answer' });
    this.#failedRequest?.settle();
    this.#failedRequest = undefined;
    for (const [advice] of this.#placedAdvice.splice(0)) advice.undelivered(reason);
    for (const handle of this.#waitingAdvice.splice(0)) handle.undelivered(reason);
  }
}
