import { deadlineFeedback } from '../steering/feedback/deadline-feedback.ts';
import { driftFeedback, errorCascadeFeedback, stallFeedback } from '../steering/feedback/pattern-kind-feedback.ts';
import { paceFeedback } from '../steering/feedback/pace-feedback.ts';
import { patternFeedback } from '../steering/feedback/pattern-feedback.ts';
import { toolUsageMonitor } from '../steering/feedback/tool-usage-monitor.ts';
import type { ProviderDefinition } from '../steering/prompt/define-provider.ts';
import type { FeedbackProvider } from '../steering/prompt/feedback-provider.ts';
import type { FeedbackTrigger } from '../steering/prompt/feedback-trigger.ts';
import { STANDARD_TRIGGERS } from '../steering/standard-steering.ts';

/** A provider as a configuration has it. */
export interface ConfiguredFeedback<Definition> {
  readonly make: Definition;
  /** It belongs to the standard set. */
  readonly isUsual: boolean;
  /** Default: the provider's own trigger. */
  readonly trigger?: FeedbackTrigger;
}

/** Feedback providers by the name that configurations give them, in the order in which they are asked. */
export const FEEDBACK: {
  readonly deadline: ConfiguredFeedback<typeof deadlineFeedback>;
  readonly pattern: ConfiguredFeedback<typeof patternFeedback>;
  readonly pace: ConfiguredFeedback<typeof paceFeedback>;
  readonly toolUsageMonitor: ConfiguredFeedback<typeof toolUsageMonitor>;
  readonly stall: ConfiguredFeedback<typeof stallFeedback>;
  readonly errorCascade: ConfiguredFeedback<typeof errorCascadeFeedback>;
  readonly drift: ConfiguredFeedback<typeof driftFeedback>;
} = {
  deadline: { make: deadlineFeedback, isUsual: true, trigger: STANDARD_TRIGGERS.deadline },
  pattern: { make: patternFeedback, isUsual: true },
  pace: { make: paceFeedback, isUsual: true, trigger: STANDARD_TRIGGERS.pace },
  // The seeds' own example of a trigger for this provider.
  toolUsageMonitor: { make: toolUsageMonitor, isUsual: false, trigger: { everyNCalls: 10 } },
  stall: { make: stallFeedback, isUsual: false },
  errorCascade: { make: errorCascadeFeedback, isUsual: false },
  drift: { make: driftFeedback, isUsual: false },
};

/** A provider of the table, whatever its options: what stands under its name is what it takes. */
export type AnyFeedback = ConfiguredFeedback<ProviderDefinition<object, FeedbackProvider>>;
