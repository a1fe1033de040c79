import { joinAdvice } from '../advice/join-advice.ts';
import { evaluateFeedback, type FeedbackInput } from './evaluate-feedback.ts';
import type { FeedbackFaultHandler } from './feedback-fault.ts';
import type { ProducedFeedback } from './run-speakers.ts';
import { sessionNowMs } from './session-time.ts';

/** What `collectFeedback` needs: a prompt and a session, and what is known of the run. */
export interface CollectFeedbackInput extends Omit<FeedbackInput, 'nowMs'> {
  /** Unix milliseconds; default: the session's time. */
  readonly nowMs?: number | undefined;
  readonly onFault?: FeedbackFaultHandler | undefined;
}

/**
 * The feedback to hand to the agent after a tool call, or undefined when nobody speaks. Dispatch the call first.
 *
 * @throws CoxswainError as `evaluateFeedback`
 */
export function collectFeedback(input: CollectFeedbackInput): string | undefined {
  const nowMs = input.nowMs ?? sessionNowMs(input.session);
  return joinProduced(evaluateFeedback({ ...input, nowMs }, { onFault: input.onFault }).produced);
}

/** One text: the most severe first, then in order of declaration, a blank line between. Undefined when empty. */
export function joinProduced(produced: readonly ProducedFeedback[]): string | undefined {
  return produced.length === 0 ? undefined : joinAdvice(produced, { maxChars: Number.MAX_SAFE_INTEGER }).text;
}
