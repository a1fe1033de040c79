import type { AdviceHandle } from '../../run/advice-handle.ts';
import { aiSdkCapabilities } from './capabilities.ts';
import { placeAdvice, type PlacedAdvice } from './placed-advice.ts';

const { channel = '' } = aiSdkCapabilities.pre_tool_selection;

/** Advice on its way to the model as the last message of one request: what waits for the next, and what the last one brought. */
export class NextAdvice {
  readonly #maxChars: number;
  #waiting: readonly AdviceHandle[] = [];
  /** Brought by the last request, which nobody has answered yet. */
  #sent: PlacedAdvice | undefined;
  #isRefused = false;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** Keeps advice for the next request. */
  wait(handles: readonly AdviceHandle[]): void {
    this.#waiting = [...this.#waiting, ...handles];
  }

  /**
   * What a request brings: what has waited, and what is new.
   *
   * @param isRetry  the last request is tried again, and brings what it brought
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

  /** The same for a request that is not one of the SDK's: nothing that waits goes with it. */
  place(handles: readonly AdviceHandle[]): PlacedAdvice | undefined {
    this.#sent = placeAdvice(handles, this.#maxChars);
    return this.#sent;
  }

  /** The model has begun to answer. */
  arrived(advice: PlacedAdvice | undefined): void {
    advice?.delivered(channel);
    this.#sent = undefined;
  }

  /** The request failed, and may come again; then it brings the same, be it that it arrived with an answer that broke off. */
  failed(advice: PlacedAdvice | undefined): void {
    this.#sent = advice;
  }

  /** The request failed, and will not come again. */
  lost(advice: PlacedAdvice | undefined, reason: string): void {
    advice?.undelivered(reason);
    this.#sent = undefined;
  }

  /** The API takes no message at that place: from now on none is sent. */
  refused(advice: PlacedAdvice | undefined): void {
    this.#isRefused = true;
    this.lost(advice, 'the API refused a message after the last one');
  }

  /** No request will follow. */
  close(): void {
    this.lost(this.#sent, 'the request was not answered');
    for (const handle of this.#waiting) handle.undelivered('no request followed');
    this.#waiting = [];
  }
}
