import type { Severity } from '../records/feedback.ts';
import type { DecisionPoint, GuidanceInjection } from '../records/guidance.ts';
import { joinAdvice, MAX_ADVICE_CHARS } from '../steering/advice/join-advice.ts';

/** One piece of advice on its way to the agent. The host says what became of it, once; later answers are ignored. */
export interface AdviceHandle {
  readonly id: string;
  readonly source: 'feedback' | 'guidance';
  /** The provider's or observer's name. */
  readonly provider: string;
  readonly severity: Severity;
  /** What the agent should read. */
  readonly text: string;
  readonly point: DecisionPoint;
  /** The guidance itself: at `pre_render`, give it to `prompt.render({ guidance })`. Absent for feedback. */
  readonly injection?: GuidanceInjection;
  /** It reached the agent. @param channel how, in the host's words, such as `tool-result` */
  delivered(channel: string): void;
  /** It could not reach the agent. @param reason why, in a few words */
  undelivered(reason: string): void;
}

/** How advice is put into one text. */
export interface DeliverOptions {
  /** How it reaches the agent, in the host's words. */
  readonly channel: string;
  /** Most characters the channel carries; default 9,000. What does not fit is left out whole and recorded so. */
  readonly maxChars?: number;
}

/**
 * Joins advice into one text, loudest first, and records each piece as delivered or, where it did not fit, as not.
 *
 * @returns undefined when there is nothing to say
 */
export function deliverAdvice(handles: readonly AdviceHandle[], options: DeliverOptions): string | undefined {
  const { maxChars = MAX_ADVICE_CHARS } = options;
  const { text, included, omitted } = joinAdvice(handles, { maxChars });
  for (const handle of included) handle.delivered(options.channel);
  for (const handle of omitted) handle.undelivered(`no room in ${maxChars} characters`);
  return text === '' ? undefined : text;
}
