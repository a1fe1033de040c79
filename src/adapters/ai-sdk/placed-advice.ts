import { joinAdvice } from '../../steering/advice/join-advice.ts';
import type { AdviceHandle } from '../../run/advice-handle.ts';

/** Advice joined into one text, awaiting a verdict; only the first verdict counts. */
export interface PlacedAdvice {
  readonly text: string;
  /** It reached the model. */
  delivered(channel: string): void;
  /** It did not reach the model. */
  undelivered(reason: string): void;
}

/**
 * Joins advice into one text, loudest first. Advice that does not fit is recorded as undelivered with the rest.
 * Undefined if nothing is left.
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
