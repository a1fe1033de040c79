import type { FeedbackContext } from '../prompt/feedback-context.ts';
import { checkDraft, InvalidDraft } from './check-draft.ts';
import type { CheckedDraft } from './check-draft.ts';
import type { FeedbackFaults } from './feedback-fault.ts';
import type { Speaker } from './speaker.ts';

/** How long a speaker takes is measured only where the host gives a clock for it. */
export interface AskOptions {
  /** A steady clock in milliseconds, such as `performance.now`. Default: nothing is measured. */
  readonly measureMs?: (() => number) | undefined;
  /** What a speaker may take before it counts as an overrun; default 50. */
  readonly timeLimitMs?: number | undefined;
  /** Told of each overrun: the key (`feedback:NAME`, `assessment:NAME`) and what it took. May not throw. */
  readonly onOverrun?: ((speakerKey: string, durationMs: number) => void) | undefined;
}

/** What came of asking. */
export interface SpeakerAnswer {
  /** True once `provide` was called, whatever it did. */
  readonly ran: boolean;
  readonly draft?: CheckedDraft;
}

const DEFAULT_TIME_LIMIT_MS = 50;

/** Asks one speaker. Never throws: what goes wrong is reported. */
export function askSpeaker(
  speaker: Speaker,
  context: FeedbackContext,
  faults: FeedbackFaults,
  options: AskOptions,
): SpeakerAnswer {
  const { measureMs, timeLimitMs = DEFAULT_TIME_LIMIT_MS } = options;
  const startedMs = measureMs?.();
  const answer = ask(speaker, context, faults);
  if (measureMs !== undefined && startedMs !== undefined) {
    const tookMs = measureMs() - startedMs;
    if (tookMs > timeLimitMs) {
      const message = `took ${Math.round(tookMs)} ms, at most ${timeLimitMs} ms are allowed`;
      faults.report(speaker, answer.ran ? 'provide' : 'shouldRun', 'provider-overrun', message);
      options.onOverrun?.(speaker.key, tookMs);
    }
  }
  return answer;
}

function ask(speaker: Speaker, context: FeedbackContext, faults: FeedbackFaults): SpeakerAnswer {
  const { provider } = speaker;
  let phase: 'shouldRun' | 'provide' = 'shouldRun';
  try {
    const willing: unknown = provider.shouldRun(context);
    if (typeof willing !== 'boolean') {
      heed(willing);
      throw new InvalidDraft(`shouldRun must answer true or false at once, got ${typeof willing}`);
    }
    if (!willing) return { ran: false };
    phase = 'provide';
    const said: unknown = provider.provide(context);
    heed(said);
    return { ran: true, draft: checkDraft(said) };
  } catch (thrown) {
    if (thrown instanceof InvalidDraft) faults.report(speaker, phase, 'provider-invalid', thrown.message);
    else faults.reportThrown(speaker, phase, thrown);
    return { ran: phase === 'provide' };
  }
}

/** A promise is refused as no answer; its later rejection must not end the process. */
function heed(answer: unknown): void {
  if (answer instanceof Promise) answer.catch(() => undefined);
}
