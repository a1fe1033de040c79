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
import {
  doomLoop,
  doomLoopGuidance,
  consultationPrompt,
  diagnosticSignal,
  parallelToolReminder,
  sequentialWhenParallel,
} from '../../core/steering/guidance/built-in-guidance.ts';
import { lessonGuidance } from '../../core/steering/guidance/lesson-guidance.ts';
import {
  errorStreak,
  highToolCount,
  largeOutput,
  progressStall,
  recentFailures,
  singleToolRepeated,
  type Classifier,
} from '../../core/steering/guidance/classifier.ts';
import type { GuidanceProvider, GuidanceProviderConfig } from '../../core/steering/prompt/guidance-provider.ts';

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

/** Limits on how often and at which decision points a guidance provider is used. */
export type GuidanceLimits = Omit<GuidanceProviderConfig, 'provider'>;

/** The definition of a guidance provider in the configuration. Guidance providers are disabled by default. */
interface ConfiguredGuidance<Definition> {
  readonly make: Definition;
  readonly limits: GuidanceLimits;
}

/** Guidance providers by configuration name, in the order of evaluation. */
export const GUIDANCE: {
  readonly diagnosticSignal: ConfiguredGuidance<typeof diagnosticSignal>;
  readonly doomLoop: ConfiguredGuidance<typeof doomLoopGuidance>;
  readonly consultationPrompt: ConfiguredGuidance<typeof consultationPrompt>;
  readonly parallelToolReminder: ConfiguredGuidance<typeof parallelToolReminder>;
  readonly lessonGuidance: ConfiguredGuidance<typeof lessonGuidance>;
} = {
  diagnosticSignal: { make: diagnosticSignal, limits: { maxPerTurn: 1 } },
  doomLoop: { make: doomLoopGuidance, limits: { maxPerTurn: 1, minConfidence: 0.7 } },
  consultationPrompt: { make: consultationPrompt, limits: { maxPerTurn: 1, cooldownTurns: 5 } },
  parallelToolReminder: { make: parallelToolReminder, limits: { maxPerTurn: 1, cooldownTurns: 10, maxPerRun: 3 } },
  lessonGuidance: { make: lessonGuidance, limits: { maxPerTurn: 1, maxPerRun: 1 } },
};

/** Default limits of custom texts. They are stricter than the limits of guidance about detected patterns. */
export const BANK_LIMITS: GuidanceLimits = { maxPerTurn: 1, cooldownTurns: 5 };

/** Any guidance provider of the table, with the type of its options removed. */
export type AnyGuidance = ConfiguredGuidance<ProviderDefinition<object, GuidanceProvider>>;

/** Classifiers for the conditions of custom texts (`guidance.bank`). */
export const CLASSIFIERS: {
  readonly doomLoop: typeof doomLoop;
  readonly errorStreak: typeof errorStreak;
  readonly recentFailures: typeof recentFailures;
  readonly progressStall: typeof progressStall;
  readonly largeOutput: typeof largeOutput;
  readonly highToolCount: typeof highToolCount;
  readonly singleToolRepeated: typeof singleToolRepeated;
  readonly sequentialWhenParallel: typeof sequentialWhenParallel;
} = {
  doomLoop,
  errorStreak,
  recentFailures,
  progressStall,
  largeOutput,
  highToolCount,
  singleToolRepeated,
  sequentialWhenParallel,
};

export type AnyClassifier = ProviderDefinition<object, Classifier>;
