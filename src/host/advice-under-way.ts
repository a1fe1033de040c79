import { joinAdvice, MAX_ADVICE_CHARS } from '../steering/advice/join-advice.ts';
import type { AdviceHandle } from '../run/advice-handle.ts';
import type { Trouble } from './run-outcome.ts';

/** A request on its way to the model, and the advice it carries. */
export interface OutgoingRequest {
  /** What to add to this request alone; undefined when there is nothing to say. */
  readonly text: string | undefined;
  /** The model has it. @param channel how the advice reached it */
  accepted(channel: string): void;
  /** The model did not get it. The same request may be sent again, and then carries the same text. */
  failed(trouble: Trouble): void;
}

/** Advice that was added to a result, and waits for the model to have it. */
interface PlacedAdvice {
  arrived(): void;
  lost(reason: string): void;
}

/** A request that failed, and what becomes of its advice if it does not come again. */
interface FailedRequest {
  readonly key: unknown;
  readonly request: OutgoingRequest;
  settle(): void;
}

/** Advice between its production and the model: in a request, in a result, or waiting for the next request. */
export class AdviceUnderWay {
  readonly #maxChars: number;
  #waiting: AdviceHandle[] = [];
  #placed: PlacedAdvice[] = [];
  #failed: FailedRequest | undefined;
  #trouble: Trouble | undefined;

  constructor(maxChars: number = MAX_ADVICE_CHARS) {
    this.#maxChars = maxChars;
  }

  /** What stopped the agent last, where nothing shows that it went on. */
  get trouble(): Trouble | undefined {
    return this.#trouble;
  }

  /** Something went wrong that ends the agent, unless it goes on. */
  troubled(trouble: Trouble): void {
    this.#trouble = trouble;
  }

  /** The request of that key where it has failed and comes again. The advice of any other that failed is given up. */
  again(key: unknown): OutgoingRequest | undefined {
    const failed = this.#failed;
    this.#failed = undefined;
    if (failed !== undefined && failed.key === key) return failed.request;
    failed?.settle();
    return undefined;
  }

  /** Puts advice, and what waits, into a request. */
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
          // What stands in a result comes again with the next request.
          this.#placed.push(...placed.splice(0));
          for (const handle of included) handle.undelivered(trouble.reason);
        };
        this.#failed = { key, request, settle };
      },
    };
    return request;
  }

  /**
   * Makes advice one text that the host adds to a result.
   *
   * @param atOnce  it counts as delivered now, not when the model has the next request
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

  /** Keeps advice for the next request. */
  wait(handles: readonly AdviceHandle[]): void {
    this.#waiting.push(...handles);
  }

  /** What stands in results of another conversation goes on in this one, which has the same history. */
  inherit(before: AdviceUnderWay): void {
    this.#placed.push(...before.#placed.splice(0));
  }

  /** Nothing more is coming: what has not reached the model is recorded so. */
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
