import { present } from '../base/present.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { CoxswainError } from '../base/error.ts';
import { hashText } from '../base/hash.ts';
import type { NoiseOptions } from './advice/decide-advice.ts';
import { defaultDetectors } from '../patterns/detectors/default-detectors.ts';
import type { FeedbackProviderConfig } from './prompt/feedback-provider.ts';
import type { GuidanceProviderConfig } from './prompt/guidance-provider.ts';
import type { FeedbackCadence, FeedbackDelivery, PromptTemplate } from './prompt/prompt-template.ts';
import type { ObserverConfig } from './prompt/trajectory-observer.ts';
import type { Slice } from '../session/define-slice.ts';
import { checkHoldout, type HoldoutOptions } from './holdout.ts';
import { checkStopPolicy, type StopPolicy } from './stop-policy.ts';
import { COMPACT_RETENTION, FULL_RETENTION, type Retention } from './retention.ts';
import { standardSteering } from './standard-steering.ts';
import type { ModelGuidanceConfig, SteeringOptions } from './steering-options.ts';
import type { PatternDetector } from '../patterns/pattern-detector.ts';
import type { ToolDeclarations } from '../calls/tool-semantics.ts';

/** Steering with every default filled in. */
export interface ResolvedSteering {
  readonly feedback: readonly FeedbackProviderConfig[];
  readonly observers: readonly ObserverConfig[];
  readonly guidance: readonly GuidanceProviderConfig[];
  readonly models: readonly ModelGuidanceConfig[];
  readonly delivery: FeedbackDelivery | undefined;
  readonly cadence: FeedbackCadence | undefined;
  readonly noise: NoiseOptions;
  readonly maxGuidancePerTurn: number;
  readonly mode: 'steer' | 'shadow';
  readonly holdout: HoldoutOptions;
  readonly stop: StopPolicy | undefined;
  readonly detectors: readonly PatternDetector[];
  readonly tools: ToolDeclarations;
  readonly slices: readonly Slice<unknown>[];
  readonly providerTimeLimitMs: number;
  readonly retain: Retention;
  readonly madeFrom: string | undefined;
  /** Equal for configurations that name the same providers, triggers and limits, and are made from the same. */
  readonly configurationHash: string;
}

/**
 * Fills in defaults. Where neither the options nor the prompt name anyone who speaks, `standardSteering()` does.
 *
 * @throws CoxswainError "invalid-argument" for a limit outside its range
 */
export function resolveSteering(options: SteeringOptions, prompt?: PromptTemplate): ResolvedSteering {
  const named = [options.feedback, options.observers, options.guidance, options.models];
  const declared = [prompt?.feedbackProviders, prompt?.observers, prompt?.guidanceProviders];
  const silent = named.every((list) => list === undefined) && declared.every((list) => (list?.length ?? 0) === 0);
  const chosen: SteeringOptions = silent ? { ...standardSteering(), ...options } : options;
  const limit = chosen.providerTimeLimitMs ?? 50;
  checkAmount('providerTimeLimitMs', limit, 1);
  checkAmount('maxGuidancePerTurn', chosen.maxGuidancePerTurn, 0);
  for (const [name, value] of Object.entries(chosen.noise ?? {})) checkAmount(`noise.${name}`, value, 0);
  for (const { classifier, timeLimitMs, minConfidence } of chosen.models ?? []) {
    checkAmount(`models.${classifier.name}.timeLimitMs`, timeLimitMs, 1, 600_000);
    checkAmount(`models.${classifier.name}.minConfidence`, minConfidence, 0, 1);
  }
  const steering: Omit<ResolvedSteering, 'configurationHash'> = {
    feedback: chosen.feedback ?? [],
    observers: chosen.observers ?? [],
    guidance: chosen.guidance ?? [],
    models: chosen.models ?? [],
    delivery: chosen.delivery,
    cadence: chosen.cadence,
    noise: chosen.noise ?? {},
    maxGuidancePerTurn: chosen.maxGuidancePerTurn ?? 3,
    mode: chosen.mode ?? 'steer',
    holdout: checkHoldout(chosen.holdout),
    stop: checkStopPolicy(chosen.stop),
    detectors: chosen.detectors ?? defaultDetectors(),
    tools: chosen.tools ?? {},
    slices: chosen.slices ?? [],
    providerTimeLimitMs: limit,
    retain: chosen.retain === 'compact' ? COMPACT_RETENTION : FULL_RETENTION,
    madeFrom: chosen.madeFrom,
  };
  return { ...steering, configurationHash: hashText(canonicalJson(describe(steering))) };
}

function checkAmount(name: string, value: unknown, min: number, max: number = Number.MAX_SAFE_INTEGER): void {
  if (value === undefined || (typeof value === 'number' && value >= min && value <= max)) return;
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
  throw new CoxswainError('invalid-argument', `${name} must be a number ${range}, got ${JSON.stringify(value)}`, {
    details: { name, value },
  });
}

/** What of a configuration is data: code (what a provider does) cannot be told apart. */
function describe(steering: Omit<ResolvedSteering, 'configurationHash'>): unknown {
  return {
    feedback: steering.feedback.map(({ provider, trigger }) => [
      provider.name,
      trigger ?? provider.defaultTrigger ?? null,
    ]),
    observers: steering.observers.map(({ observer, trigger }) => [
      observer.name,
      trigger ?? observer.defaultTrigger ?? null,
    ]),
    guidance: steering.guidance.map(({ provider, ...limits }) => [provider.name, limits]),
    models: steering.models.map(({ classifier, decisionPoints }) => [classifier.name, decisionPoints]),
    delivery: steering.delivery ?? null,
    cadence: steering.cadence ?? null,
    noise: steering.noise,
    maxGuidancePerTurn: steering.maxGuidancePerTurn,
    detectors: steering.detectors.map((detector) => detector.name),
    tools: steering.tools,
    ...present({ madeFrom: steering.madeFrom, stop: steering.stop }),
    ...(steering.retain === FULL_RETENTION ? {} : { retain: steering.retain }),
  };
}
