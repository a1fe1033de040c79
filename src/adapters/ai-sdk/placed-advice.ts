import { joinAdvice } from '../../steering/advice/join-advice.ts';
import type { AdviceHandle } from '../../run/advice-handle.ts';

/** Advice that stands in one text and waits for a verdict, of which the first counts. */
export interface PlacedAdvice {
  readonly text: string;
  /** It reached the model. */
  delivered(channel: string): void;
  /** It did not. */
  undelivered(reason: string): void;
}

/**
 * Joins advice into one text, loudest first. What does not fit has its verdict with the rest: it did not reach the model.
 * Undefined when nothing is left to say.
 */
export function placeAdvice(handles: readonly AdviceHandle[], maxChars: number): PlacedAdvice | undefined {
  const { text, included, omitted } = joinAdvice(handles, { maxChars });
  const settle = (verdict: (handle: AdviceHandle) => void): void => {
    for (const handle of included) verdict(handle);
    for (const handle of omitted) handle.undelivered(`no room in ${maxChars} characters`);
  };
  if (included.length === 0) {
    settle(() => undefined);
    return undefined;
  }
  return {
    text,
    delivered: (channel) => settle((handle) => handle.delivered(channel)),
    undelivered: (reason) => settle((handle) => handle.undelivered(reason)),
  };
}
