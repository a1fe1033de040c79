import {
  deadlineFeedback,
  toolUsageMonitor,
  contextFeedback,
  paceFeedback,
  afterCompaction,
  limitAhead,
} from '../../core/steering/feedback/built-in-feedback.ts';
import {
  driftFeedback,
  errorCascadeFeedback,
  stallFeedback,
  patternFeedback,
} from '../../core/steering/feedback/pattern-feedback.ts';
import type { ProviderDefinition } from '../../core/steering/prompt/define-provider.ts';
import type { FeedbackProvider, FeedbackTrigger } from '../../core/steering/prompt/feedback-provider.ts';
import { STANDARD_TRIGGERS } from '../../core/steering/standard-steering.ts';

export interface ConfiguredFeedback<Definition> {
  readonly make: Definition;
  /** True if the standard steering enables the provider. */
  readonly isUsual: boolean;
  /** Default trigger; if absent, the provider's own trigger. */
  readonly trigger?: FeedbackTrigger;
}

/** Feedback providers by configuration name, in the order of evaluation. */
export const FEEDBACK: {
  readonly deadline: ConfiguredFeedback<typeof deadlineFeedback>;
  readonly pattern: ConfiguredFeedback<typeof patternFeedback>;
  readonly pace: ConfiguredFeedback<typeof paceFeedback>;
  readonly context: ConfiguredFeedback<typeof contextFeedback>;
  readonly afterCompaction: ConfiguredFeedback<typeof afterCompaction>;
  readonly limitAhead: ConfiguredFeedback<typeof limitAhead>;
  readonly toolUsageMonitor: ConfiguredFeedback<typeof toolUsageMonitor>;
  readonly stall: ConfiguredFeedback<typeof stallFeedback>;
  readonly errorCascade: ConfiguredFeedback<typeof errorCascadeFeedback>;
  readonly drift: ConfiguredFeedback<typeof driftFeedback>;
} = {
  deadline: { make: deadlineFeedback, isUsual: true, trigger: STANDARD_TRIGGERS.deadline },
  pattern: { make: patternFeedback, isUsual: true },
  pace: { make: paceFeedback, isUsual: true, trigger: STANDARD_TRIGGERS.pace },
  context: { make: contextFeedback, isUsual: false },
  afterCompaction: { make: afterCompaction, isUsual: false },
  limitAhead: { make: limitAhead, isUsual: false },
  // From the specification's example of this provider.
  toolUsageMonitor: { make: toolUsageMonitor, isUsual: false, trigger: { everyNCalls: 10 } },
  stall: { make: stallFeedback, isUsual: false },
  errorCascade: { make: errorCascadeFeedback, isUsual: false },
  drift: { make: driftFeedback, isUsual: false },
};

/** Any feedback provider of the table, with the type of its options removed. */
export type AnyFeedback = ConfiguredFeedback<ProviderDefinition<object, FeedbackProvider>>;
