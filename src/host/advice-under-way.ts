import { joinAdvice, MAX_ADVICE_CHARS } from '../steering/advice/join-advice.ts';
import type { AdviceHandle } from '../run/advice-handle.ts';
import type { Trouble } from './run-outcome.ts';

/** A request to the model, and the advice in it. */
export interface OutgoingRequest {
  /** Text to add to this request only; undefined without advice. */
  readonly text: string | undefined;
  /** The model received it. @param channel  how the advice reached the model */
  accepted(channel: string): void;
  /** The model did not receive it. A retry carries the same text. */
  failed(trouble: Trouble): void;
}

/** Advice in a result that the model has not received yet. */
interface PlacedAdvice {
  arrived(): void;
  lost(reason: string): void;
}

/** A failed request. */
interface FailedRequest {
  readonly key: unknown;
  readonly request: OutgoingRequest;
  /** Gives up its advice: there is no retry. */
  settle(): void;
}

/** Advice that the model has not received yet: in a request, in a result, or queued for the next request. */
export class AdviceUnderWay {
  readonly #maxChars: number;
  #waiting: AdviceHandle[] = [];
  #placed: PlacedAdvice[] = [];
  #failed: FailedRequest | undefined;
  #trouble: Trouble | undefined;

  constructor(maxChars: number = MAX_ADVICE_CHARS) {
    this.#maxChars = maxChars;
  }

  /** The last error that may have stopped the agent; cleared when a request succeeds. */
  get trouble(): Trouble | undefined {
    return this.#trouble;
  }

  /** Notes an error that ends the agent unless it goes on. */
  troubled(trouble: Trouble): void {
    this.#trouble = trouble;
  }

  /** The failed request with this key, which is being retried. Gives up the advice of any other failed request. */
  again(key: unknown): OutgoingRequest | undefined {
    const failed = this.#failed;
    this.#failed = undefined;
    if (failed !== undefined && failed.key === key) return failed.request;
    failed?.settle();
    return undefined;
  }

  /** Puts advice into a request, after the queued advice. */
  send(key: unknown, handles: readonly AdviceHandle[]): OutgoingRequest {
    const { text, included, omitted } = joinAdvice([...this.#waiting.splice(0), ...handles], {
      maxChars: this.#maxChars,
    });
    this.#leaveOut(omitted);
    const placed = this.#placed.splice(0);
    const request: OutgoingRequest = {
      text: text === '' ? undefined : text,
      accepted: (channel) => {
        this.#trouble = undefined;
        for (const advice of placed.splice(0)) advice.arrived();
        for (const handle of included) handle.delivered(channel);
      },
      failed: (trouble) => {
        this.#failed?.settle();
        this.#trouble = trouble;
        const settle = (): void => {
          // The next request sends the results again.
          this.#placed.push(...placed.splice(0));
          for (const handle of included) handle.undelivered(trouble.reason);
        };
        this.#failed = { key, request, settle };
      },
    };
    return request;
  }

  /**
   * Joins advice into one text, which the host adds to a result.
   *
   * @param atOnce  counts as delivered now, not with the next request
   */
  place(handles: readonly AdviceHandle[], channel: string, atOnce: boolean): string | undefined {
    const { text, included, omitted } = joinAdvice(handles, { maxChars: this.#maxChars });
    const placed: PlacedAdvice = {
      arrived: () => {
        for (const handle of included) handle.delivered(channel);
        this.#leaveOut(omitted);
      },
      lost: (reason) => {
        for (const handle of included) handle.undelivered(reason);
        this.#leaveOut(omitted);
      },
    };
    if (atOnce) placed.arrived();
    else this.#placed.push(placed);
    return text === '' ? undefined : text;
  }

  /** Queues advice for the next request. */
  wait(handles: readonly AdviceHandle[]): void {
    this.#waiting.push(...handles);
  }

  /** Takes over the advice in results of another conversation with the same history. */
  inherit(before: AdviceUnderWay): void {
    this.#placed.push(...before.#placed.splice(0));
  }

  /** Records all remaining advice as undelivered. */
  close(reason: string): void {
    this.#failed?.settle();
    this.#failed = undefined;
    for (const advice of this.#placed.splice(0)) advice.lost(reason);
    for (const handle of this.#waiting.splice(0)) handle.undelivered(reason);
  }

  #leaveOut(handles: readonly AdviceHandle[]): void {
    for (const handle of handles) handle.undelivered(`no room in ${this.#maxChars} characters`);
  }
}
