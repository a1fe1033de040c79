import { placeAdvice, type AdviceHandle, type PlacedAdvice } from '../../core/run/advice-handle.ts';
import { aiSdkCapabilities } from './capabilities.ts';

const { channel = '' } = aiSdkCapabilities.pre_tool_selection;

/** Advice for the model, sent as the last message of one request. Keeps the queued advice and the advice in the last request. */
export class NextAdvice {
  readonly #maxChars: number;
  #waitingAdvice: readonly AdviceHandle[] = [];
  #sentAdvice: PlacedAdvice | undefined;
  #isRefused = false;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  wait(handles: readonly AdviceHandle[]): void {
    this.#waitingAdvice = [...this.#waitingAdvice, ...handles];
  }

  /** @param isRetry  true if the last request is retried; the retry contains the same advice */
  take(isRetry: boolean, takeNews: () => readonly AdviceHandle[]): PlacedAdvice | undefined {
    if (isRetry && this.#sentAdvice !== undefined) return this.#sentAdvice;
    this.#sentAdvice?.undelivered('the request was not answered');
    const handles = [...this.#waitingAdvice, ...takeNews()];
    this.#waitingAdvice = [];
    if (this.#isRefused)
      for (const handle of handles) handle.undelivered('the API takes no message after the last one');
    return this.#isRefused ? undefined : this.place(handles);
  }

  /** Like `take`, for a request outside the SDK. Such a request contains no queued advice. */
  place(handles: readonly AdviceHandle[]): PlacedAdvice | undefined {
    this.#sentAdvice = placeAdvice(handles, this.#maxChars);
    return this.#sentAdvice;
  }

  arrived(advice: PlacedAdvice | undefined): void {
    advice?.delivered(channel);
    this.#sentAdvice = undefined;
  }

  /** The advice may be sent again with a retry, also if it already arrived with a truncated answer. */
  failed(advice: PlacedAdvice | undefined): void {
    this.#sentAdvice = advice;
  }

  /** Called when the request failed and is not retried. */
  lost(advice: PlacedAdvice | undefined, reason: string): void {
    advice?.undelivered(reason);
    this.#sentAdvice = undefined;
  }

  /** Called when the API accepts no message in this position. No advice message is sent from then on. */
  refused(advice: PlacedAdvice | undefined): void {
    this.#isRefused = true;
    this.lost(advice, 'the API refused a message after the last one');
  }

  /** Called when no request follows. */
  close(): void {
    this.lost(this.#sentAdvice, 'the request was not answered');
    for (const handle of this.#waitingAdvice) handle.undelivered('no request followed');
    this.#waitingAdvice = [];
  }
}
