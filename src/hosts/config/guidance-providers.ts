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
import type { ProviderDefinition } from '../../core/steering/prompt/define-provider.ts';
import type { GuidanceProvider, GuidanceProviderConfig } from '../../core/steering/prompt/guidance-provider.ts';

/** Limits on how often and at which decision points a guidance provider is used. */
export type GuidanceLimits = Omit<GuidanceProviderConfig, 'provider'>;

/** The definition of a guidance provider in the configuration. Guidance providers are disabled by default. */
interface ConfiguredGuidance<Definition> {
  readonly make: Definition;
  /** The default limits. */
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
