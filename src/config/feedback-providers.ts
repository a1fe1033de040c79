import type { FeedbackDefinition } from '../steering/feedback/define-provider.ts';
import { deadline } from '../steering/feedback/deadline-feedback.ts';
import { drift } from '../steering/feedback/drift-feedback.ts';
import { errorCascade } from '../steering/feedback/error-cascade-feedback.ts';
import { pace } from '../steering/feedback/pace-feedback.ts';
import { pattern } from '../steering/feedback/pattern-feedback.ts';
import { stall } from '../steering/feedback/stall-feedback.ts';
import { usageMonitor } from '../steering/feedback/tool-usage-monitor.ts';
import type { FeedbackTrigger } from '../steering/prompt/feedback-trigger.ts';
import { STANDARD_TRIGGERS } from '../steering/standard-steering.ts';

/** A provider as a configuration has it. */
export type ConfiguredFeedback<Definition> = Definition & {
  /** It belongs to the standard set. */
  readonly isUsual: boolean;
  /** Default: the provider's own trigger. */
  readonly trigger?: FeedbackTrigger;
};

/** Feedback providers by the name that configurations give them, in the order in which they are asked. */
export const FEEDBACK: {
  readonly deadline: ConfiguredFeedback<typeof deadline>;
  readonly pattern: ConfiguredFeedback<typeof pattern>;
  readonly pace: ConfiguredFeedback<typeof pace>;
  readonly toolUsageMonitor: ConfiguredFeedback<typeof usageMonitor>;
  readonly stall: ConfiguredFeedback<typeof stall>;
  readonly errorCascade: ConfiguredFeedback<typeof errorCascade>;
  readonly drift: ConfiguredFeedback<typeof drift>;
} = {
  deadline: { ...deadline, isUsual: true, trigger: STANDARD_TRIGGERS.deadline },
  pattern: { ...pattern, isUsual: true },
  pace: { ...pace, isUsual: true, trigger: STANDARD_TRIGGERS.pace },
  // The seeds' own example of a trigger for this provider.
  toolUsageMonitor: { ...usageMonitor, isUsual: false, trigger: { everyNCalls: 10 } },
  stall: { ...stall, isUsual: false },
  errorCascade: { ...errorCascade, isUsual: false },
  drift: { ...drift, isUsual: false },
};

/** A provider of the table, whatever its options: what stands under its name is what it takes. */
export type AnyFeedback = ConfiguredFeedback<FeedbackDefinition<object>>;
