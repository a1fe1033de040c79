import { joinAdvice } from '../../steering/advice/join-advice.ts';
import type { AdviceHandle } from '../../run/advice-handle.ts';

/** Advice joined into one text. Its delivery is reported once; later reports are ignored. */
export interface PlacedAdvice {
  readonly text: string;
  /** Reports that the text reached the model. */
  delivered(channel: string): void;
  /** Reports that the text did not reach the model. */
  undelivered(reason: string): void;
}

/** Joins advice into one text, most severe first. Advice that does not fit is recorded as undelivered. Undefined if no advice is left. */
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
