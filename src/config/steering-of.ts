import { present } from '../base/present.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { hashText } from '../base/hash.ts';
import { staticFeedback } from '../steering/feedback/static-feedback.ts';
import { defineGuidance } from '../steering/guidance/define-guidance.ts';
import type { FeedbackProviderConfig } from '../steering/prompt/feedback-provider.ts';
import type { GuidanceProviderConfig } from '../steering/prompt/guidance-provider.ts';
import { STANDARD_NOISE } from '../steering/standard-steering.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
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
import { allOf, anyOf, not, threshold } from '../steering/guidance/combine-classifiers.ts';
import type { Classifier } from '../steering/guidance/classifier.ts';
import { sensitiveContentPending } from '../steering/guidance/sensitive-content-pending.ts';

const BANK_CATEGORY = 'project';

/**
 * The steering that a configuration describes: `standardSteering()` with what it changes. An empty configuration is
 * the standard steering itself, down to its hash.
 *
 * @param config as `decodeConfig` gives it; such a one never makes this throw
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

/** A hash of the sections whose numbers end up inside providers and detectors; undefined where none says anything. */
function madeFromOf({ feedback = {}, guidance = {}, detectors = {} }: CoxswainConfig): string | undefined {
  const said = [feedback, guidance, detectors].some((section) => Object.keys(section).length > 0);
  return said ? hashText(canonicalJson({ feedback, guidance, detectors })) : undefined;
}

function feedbackOf({ feedback = {}, standard = true }: CoxswainConfig): readonly FeedbackProviderConfig[] {
  // What stands under a provider's name is what it takes.
  const given = feedback as Readonly<Record<string, Switch<{ readonly trigger?: TriggerConfig }> | undefined>>;
  const definitions = Object.entries(FEEDBACK) as unknown as readonly (readonly [string, AnyFeedback])[];
  const named = definitions.flatMap(([name, { make, isUsual, trigger: usual }]): readonly FeedbackProviderConfig[] => {
    const said = given[name];
    if (said === false || (said === undefined && !(isUsual && standard))) return [];
    const options = typeof said === 'object' ? said : undefined;
    const trigger = options?.trigger ?? usual;
    // Who says when means it.
    const spacing = options?.trigger === undefined ? 'halving' : 'trigger';
    const provider = make(optionsFor(make, name === 'deadline' ? { spacing, ...options } : options));
    return [{ provider, ...present({ trigger }) }];
  });
  const own = (feedback.static ?? []).map(({ trigger, ...said }) => ({ provider: staticFeedback(said), trigger }));
  return [...named, ...own];
}

function guidanceOf({ guidance = {} }: CoxswainConfig): readonly GuidanceProviderConfig[] {
  // What stands under a provider's name is what it takes.
  const given = guidance as Readonly<Record<string, Switch<GuidanceLimits> | undefined>>;
  const definitions = Object.entries(GUIDANCE) as unknown as readonly (readonly [string, AnyGuidance])[];
  const named = definitions.flatMap(([name, { make, limits }]): readonly GuidanceProviderConfig[] => {
    const said = given[name] ?? false;
    if (said === false) return [];
    const options = said === true ? {} : said;
    return [{ ...limits, ...limitsIn(options), provider: make(optionsFor(make, options)) }];
  });
  return [...named, ...(guidance.bank ?? []).map(bankGuidance)];
}

/** The members of a configured object that are options of the provider itself: the rest is its trigger or its limits. */
function optionsFor({ options }: { readonly options: object }, configured: object = {}): object {
  return Object.fromEntries(Object.entries(configured).filter(([name]) => Object.hasOwn(options, name)));
}

/** A provider of one piece of guidance. */
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

function limitsIn(given: GuidanceLimits): GuidanceLimits {
  const { maxPerTurn, minConfidence, decisionPoints, cooldownTurns, maxPerRun } = given;
  return {
    ...present({ maxPerTurn, minConfidence, decisionPoints, cooldownTurns, maxPerRun }),
  };
}

/** The classifier that a condition of the bank describes. @param condition as decoded */
function classifierOf(condition: Condition): Classifier {
  if ('sensitiveContentPending' in condition) return sensitiveContentPending();
  if ('allOf' in condition) return allOf(...condition.allOf.map(classifierOf));
  if ('anyOf' in condition) return anyOf(...condition.anyOf.map(classifierOf));
  if ('not' in condition) return not(classifierOf(condition.not));
  if ('threshold' in condition)
    return threshold(classifierOf(condition.threshold.of), condition.threshold.minConfidence);
  const [name, options] = Object.entries(condition)[0] ?? [];
  // What stands under a classifier's name is what it takes, and a condition has exactly one member.
  const make = CLASSIFIERS[name as keyof typeof CLASSIFIERS] as AnyClassifier;
  return make(typeof options === 'object' ? options : undefined);
}
