import { present } from '../../core/base/json.ts';
import { canonicalJson } from '../../core/base/canonical-json.ts';
import { hashText } from '../../core/base/hash.ts';
import { staticFeedback } from '../../core/steering/feedback/built-in-feedback.ts';
import { defineGuidance } from '../../core/steering/guidance/define-guidance.ts';
import type { FeedbackProviderConfig } from '../../core/steering/prompt/feedback-provider.ts';
import type { GuidanceProviderConfig } from '../../core/steering/prompt/guidance-provider.ts';
import { STANDARD_NOISE } from '../../core/steering/standard-steering.ts';
import type { SteeringOptions } from '../../core/steering/steering-options.ts';
import type { BankEntry, Condition, CoxswainConfig, Switch, TriggerConfig } from './coxswain-config.ts';
import { detectorsOf } from './detectors-of.ts';
import { type AnyFeedback, FEEDBACK } from './feedback-providers.ts';
import {
  type AnyClassifier,
  type AnyGuidance,
  BANK_LIMITS,
  CLASSIFIERS,
  GUIDANCE,
  type GuidanceLimits,
} from './guidance-providers.ts';
import {
  allOf,
  anyOf,
  not,
  threshold,
  type Classifier,
  sensitiveContentPending,
} from '../../core/steering/guidance/classifier.ts';

const BANK_CATEGORY = 'project';

/**
 * Applies a configuration to `standardSteering()`. An empty configuration gives the standard steering, with the same hash.
 *
 * @param config  a result of `decodeConfig`, for which this function never throws
 */
export function steeringOf(config: CoxswainConfig): SteeringOptions {
  const { mode, holdout, stop, noise, maxGuidancePerTurn, providerTimeLimitMs, tools } = config;
  const madeFrom = madeFromOf(config);
  return {
    feedback: feedbackOf(config),
    guidance: guidanceOf(config),
    delivery: config.delivery ?? 'all',
    cadence: config.cadence ?? 'per-provider',
    detectors: detectorsOf(config.detectors ?? {}),
    noise: { ...STANDARD_NOISE, ...noise },
    ...present({ mode, holdout, stop, maxGuidancePerTurn, providerTimeLimitMs, tools, madeFrom }),
  };
}

/** Returns a hash of the sections that configure providers and detectors; undefined if all are empty. */
function madeFromOf({ feedback = {}, guidance = {}, detectors = {} }: CoxswainConfig): string | undefined {
  const isEmpty = [feedback, guidance, detectors].every((section) => Object.keys(section).length === 0);
  return isEmpty ? undefined : hashText(canonicalJson({ feedback, guidance, detectors }));
}

function feedbackOf({ feedback = {}, standard = true }: CoxswainConfig): readonly FeedbackProviderConfig[] {
  // The type of the section guarantees that each name has the options of its provider.
  const switches = feedback as Readonly<Record<string, Switch<{ readonly trigger?: TriggerConfig }> | undefined>>;
  const definitions = Object.entries(FEEDBACK) as unknown as readonly (readonly [string, AnyFeedback])[];
  const builtIn = definitions.flatMap(([name, definition]): readonly FeedbackProviderConfig[] => {
    const { make, isUsual, trigger: defaultTrigger } = definition;
    const value = switches[name] ?? (isUsual && standard);
    if (value === false) return [];
    const options = value === true ? undefined : value;
    const trigger = options?.trigger ?? defaultTrigger;
    // A configured trigger is used unchanged.
    const spacing = options?.trigger === undefined ? 'halving' : 'trigger';
    const provider = make(optionsFor(make, name === 'deadline' ? { spacing, ...options } : options));
    return [{ provider, ...present({ trigger }) }];
  });
  const staticProviders = (feedback.static ?? []).map(({ trigger, ...text }) => ({
    provider: staticFeedback(text),
    trigger,
  }));
  return [...builtIn, ...staticProviders];
}

function guidanceOf({ guidance = {} }: CoxswainConfig): readonly GuidanceProviderConfig[] {
  // The type of the section guarantees that each name has the options of its provider.
  const switches = guidance as Readonly<Record<string, Switch<GuidanceLimits> | undefined>>;
  const definitions = Object.entries(GUIDANCE) as unknown as readonly (readonly [string, AnyGuidance])[];
  const builtIn = definitions.flatMap(([name, { make, limits }]): readonly GuidanceProviderConfig[] => {
    const value = switches[name] ?? false;
    if (value === false) return [];
    const options = value === true ? {} : value;
    return [{ ...limits, ...limitsIn(options), provider: make(optionsFor(make, options)) }];
  });
  return [...builtIn, ...(guidance.bank ?? []).map(bankGuidance)];
}

/** Returns the options of the provider itself. The other fields are its trigger or its limits. */
function optionsFor({ options }: { readonly options: object }, section: object = {}): object {
  return Object.fromEntries(Object.entries(section).filter(([name]) => Object.hasOwn(options, name)));
}

function bankGuidance(entry: BankEntry): GuidanceProviderConfig {
  const { key, content, priority, category = BANK_CATEGORY, when } = entry;
  const provider = defineGuidance({
    name: key,
    category,
    decisionPoints: ['pre_tool_selection', 'pre_tool_execution', 'post_tool_result'],
    classifier: classifierOf(when),
    key,
    content,
    ...present({ priority }),
  });
  return { ...BANK_LIMITS, ...limitsIn(entry), provider };
}

function limitsIn(options: GuidanceLimits): GuidanceLimits {
  const { maxPerTurn, minConfidence, decisionPoints, cooldownTurns, maxPerRun } = options;
  return present({ maxPerTurn, minConfidence, decisionPoints, cooldownTurns, maxPerRun });
}

function classifierOf(condition: Condition): Classifier {
  if ('sensitiveContentPending' in condition) return sensitiveContentPending();
  if ('allOf' in condition) return allOf(...condition.allOf.map(classifierOf));
  if ('anyOf' in condition) return anyOf(...condition.anyOf.map(classifierOf));
  if ('not' in condition) return not(classifierOf(condition.not));
  if ('threshold' in condition)
    return threshold(classifierOf(condition.threshold.of), condition.threshold.minConfidence);
  const [name, options] = Object.entries(condition)[0] ?? [];
  // A condition has exactly one field: the name of a classifier, with its options.
  const make = CLASSIFIERS[name as keyof typeof CLASSIFIERS] as AnyClassifier;
  return make(typeof options === 'object' ? options : undefined);
}
