import { placeAdvice, type AdviceHandle, type PlacedAdvice } from '../../run/advice-handle.ts';
import { aiSdkCapabilities } from './capabilities.ts';

const { channel = '' } = aiSdkCapabilities.pre_tool_selection;

/** Advice for the model, sent as the last message of one request. Keeps the queued advice and the advice in the last request. */
export class NextAdvice {
  readonly #maxChars: number;
  #waiting: readonly AdviceHandle[] = [];
  /** Advice in the last request. The model has not answered that request yet. */
  #sent: PlacedAdvice | undefined;
  #isRefused = false;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** Queues advice for the next request. */
  wait(handles: readonly AdviceHandle[]): void {
    this.#waiting = [...this.#waiting, ...handles];
  }

  /**
   * Returns the queued and new advice for a request.
   *
   * @param isRetry  true if the last request is retried; the retry contains the same advice
   */
  take(isRetry: boolean, news: () => readonly AdviceHandle[]): PlacedAdvice | undefined {
    if (isRetry && this.#sent !== undefined) return this.#sent;
    this.#sent?.undelivered('the request was not answered');
    const handles = [...this.#waiting, ...news()];
    this.#waiting = [];
    if (this.#isRefused)
      for (const handle of handles) handle.undelivered('the API takes no message after the last one');
    return this.#isRefused ? undefined : this.place(handles);
  }

  /** Like `take`, for a request outside the SDK. Such a request contains no queued advice. */
  place(handles: readonly AdviceHandle[]): PlacedAdvice | undefined {
    this.#sent = placeAdvice(handles, this.#maxChars);
    return this.#sent;
  }

  /** Called when the model has begun to answer. */
  arrived(advice: PlacedAdvice | undefined): void {
    advice?.delivered(channel);
    this.#sent = undefined;
  }

  /**
   * Called when the request failed and may be retried with the same advice. This includes advice that already arrived with a
   * truncated answer.
   */
  failed(advice: PlacedAdvice | undefined): void {
    this.#sent = advice;
  }

  /** Called when the request failed and is not retried. */
  lost(advice: PlacedAdvice | undefined, reason: string): void {
    advice?.undelivered(reason);
    this.#sent = undefined;
  }

  /** Called when the API accepts no message in this position. No advice message is sent from then on. */
  refused(advice: PlacedAdvice | undefined): void {
    this.#isRefused = true;
    this.lost(advice, 'the API refused a message after the last one');
  }

  /** Called when no request follows. */
  close(): void {
    this.lost(this.#sent, 'the request was not answered');
    for (const handle of this.#waiting) handle.undelivered('no request followed');
    this.#waiting = [];
  }
}
