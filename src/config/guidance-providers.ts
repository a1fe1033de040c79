import { doomLoop, doomLoopGuidance } from '../steering/guidance/doom-loop.ts';
import {
  errorStreak,
  highToolCount,
  largeOutput,
  progressStall,
  recentFailures,
  singleToolRepeated,
} from '../steering/guidance/threshold-classifiers.ts';
import { consultationPrompt, diagnosticSignal } from '../steering/guidance/failure-guidance.ts';
import { parallelToolReminder, sequentialWhenParallel } from '../steering/guidance/sequential-when-parallel.ts';
import type { Classifier } from '../steering/guidance/classifier.ts';
import type { ProviderDefinition } from '../steering/prompt/define-provider.ts';
import type { GuidanceProvider, GuidanceProviderConfig } from '../steering/prompt/guidance-provider.ts';

/** How often a guidance provider may speak, and where. */
export type GuidanceLimits = Omit<GuidanceProviderConfig, 'provider'>;

/** A guidance provider as a configuration has it: none speaks unless it is named. */
interface ConfiguredGuidance<Definition> {
  readonly make: Definition;
  /** Where the configuration says nothing else. */
  readonly limits: GuidanceLimits;
}

/** Guidance providers by the name that configurations give them, in the order in which they are asked. */
export const GUIDANCE: {
  readonly diagnosticSignal: ConfiguredGuidance<typeof diagnosticSignal>;
  readonly doomLoop: ConfiguredGuidance<typeof doomLoopGuidance>;
  readonly consultationPrompt: ConfiguredGuidance<typeof consultationPrompt>;
  readonly parallelToolReminder: ConfiguredGuidance<typeof parallelToolReminder>;
} = {
  diagnosticSignal: { make: diagnosticSignal, limits: { maxPerTurn: 1 } },
  doomLoop: { make: doomLoopGuidance, limits: { maxPerTurn: 1, minConfidence: 0.7 } },
  consultationPrompt: { make: consultationPrompt, limits: { maxPerTurn: 1, cooldownTurns: 5 } },
  parallelToolReminder: { make: parallelToolReminder, limits: { maxPerTurn: 1, cooldownTurns: 10, maxPerRun: 3 } },
};

/** Limits of a text of the user's own: quieter than what follows a measured pattern. */
export const BANK_LIMITS: GuidanceLimits = { maxPerTurn: 1, cooldownTurns: 5 };

/** A provider of the table, whatever its options: what stands under its name is what it takes. */
export type AnyGuidance = ConfiguredGuidance<ProviderDefinition<object, GuidanceProvider>>;

/** Classifiers that a condition of the bank may name, with their options. */
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

/** A classifier of the table, whatever its options. */
export type AnyClassifier = ProviderDefinition<object, Classifier>;
