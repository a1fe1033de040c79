import { amount } from '../../base/shape.ts';
import { countText } from '../../base/number-text.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import type { FeedbackContext, FeedbackProvider } from '../prompt/feedback-provider.ts';

/** Options of `contextFeedback`. */
export interface ContextFeedbackOptions {
  /** Gives feedback at this share of the model's window; a number from 0 to 1, default 0.75. */
  readonly speakAtShare?: number;
  /** Warns at this share or more; a number from 0 to 1, default 0.9. */
  readonly warnAtShare?: number;
}

/**
 * States how full the model's context is, once when it reaches each of two shares, and again after a compaction. It says nothing while
 * the window of the model is unknown. Default trigger: every call.
 *
 * @throws CoxswainError "invalid-definition" if an option is out of range
 */
export const contextFeedback: ProviderDefinition<ContextFeedbackOptions, FeedbackProvider> = defineProvider(
  { speakAtShare: amount(0, 1, 0.75), warnAtShare: amount(0, 1, 0.9) },
  ({ speakAtShare, warnAtShare }): FeedbackProvider => ({
    name: 'Context',
    defaultTrigger: { everyNCalls: 1 },
    shouldRun: ({ context, lastOwnFeedback: last }) => {
      const share = context?.share ?? 0;
      if (share < speakAtShare) return false;
      // A context that shrank was compacted: what was said about the fuller one does not count.
      const saidShare = last === undefined ? 0 : shareIn(last.summary);
      return saidShare < speakAtShare || saidShare > share || (share >= warnAtShare && saidShare < warnAtShare);
    },
    provide: ({ context }: FeedbackContext) => {
      const { share = 0, tokens = 0, window = 0 } = context ?? {};
      return {
        summary: `Your context is ${Math.floor(share * 100)} % full: ${countText(tokens)} of ${countText(window)} tokens.`,
        severity: share >= warnAtShare ? 'warning' : 'caution',
        suggestions: [
          'Write down the plan, the open points and the names of the files now, where you find them after a compaction.',
          'Read only the parts of files that you need.',
        ],
      };
    },
  }),
);

/** The share that an earlier summary of this provider states. */
function shareIn(summary: string): number {
  return Number(/ (\d+) % full/.exec(summary)?.[1] ?? 0) / 100;
}
