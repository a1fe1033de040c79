import { present } from '../base/json.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { invalidArgument } from '../base/error.ts';
import { hashText } from '../base/hash.ts';
import { MAX_IDENTITIES } from './advice/advice.ts';
import { defaultDetectors } from '../detect/detectors/default-detectors.ts';
import type { PromptTemplate } from './prompt/prompt-template.ts';
import { checkHoldout, type HoldoutOptions } from './holdout.ts';
import { checkStopPolicy } from './stop-policy.ts';
import { MAX_MODEL_TIME_MS } from './guidance/model-classifier.ts';
import { STEERING_DEFAULTS } from './prompt/define-provider.ts';
import { standardSteering } from './standard-steering.ts';
import type { SteeringOptions } from './steering-options.ts';
import { Acknowledgement, Assessment, Feedback, PatternTriggerLedger } from './feedback/advice-slices.ts';
import { GuidanceDelivered } from './guidance/guidance-slices.ts';
import { ToolInvoked } from '../session/tool-invoked.ts';
import { type AnalysisRetention, FULL_ANALYSIS_RETENTION } from '../detect/patterns/analysis-snapshot.ts';

type Undefinable<Options> = { readonly [Name in keyof Options]-?: Options[Name] | undefined };
/** Options without a default of their own. */
type Undecided = 'delivery' | 'cadence' | 'stop' | 'madeFrom';

export interface ResolvedSteering
  extends
    Required<Omit<SteeringOptions, Undecided | 'holdout' | 'retain'>>,
    Undefinable<Pick<SteeringOptions, Undecided>> {
  readonly holdout: HoldoutOptions;
  readonly retain: Retention;
  /** This hash is equal for configurations with the same providers, triggers, limits and `madeFrom`. */
  readonly configurationHash: string;
}

/** Without any provider, observer or model: `standardSteering()`. Throws CoxswainError "invalid-argument" for a limit out of range. */
export function resolveSteering(options: SteeringOptions, prompt?: PromptTemplate): ResolvedSteering {
  const providerLists = [options.feedback, options.observers, options.guidance, options.models];
  const declared = [prompt?.feedbackProviders, prompt?.observers, prompt?.guidanceProviders];
  const silent =
    providerLists.every((list) => list === undefined) && declared.every((list) => (list?.length ?? 0) === 0);
  const chosen: SteeringOptions = silent ? { ...standardSteering(), ...options } : options;
  const { providerTimeLimitMs = STEERING_DEFAULTS.providerTimeLimitMs } = chosen;
  checkAmount('providerTimeLimitMs', providerTimeLimitMs, 1);
  checkAmount('maxGuidancePerTurn', chosen.maxGuidancePerTurn, 0);
  for (const [name, value] of Object.entries(chosen.noise ?? {})) checkAmount(`noise.${name}`, value, 0);
  for (const { classifier, timeLimitMs, minConfidence } of chosen.models ?? []) {
    checkAmount(`models.${classifier.name}.timeLimitMs`, timeLimitMs, 1, MAX_MODEL_TIME_MS);
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
    maxGuidancePerTurn: chosen.maxGuidancePerTurn ?? STEERING_DEFAULTS.maxGuidancePerTurn,
    mode: chosen.mode ?? 'steer',
    holdout: checkHoldout(chosen.holdout),
    stop: checkStopPolicy(chosen.stop),
    detectors: chosen.detectors ?? defaultDetectors(),
    tools: chosen.tools ?? {},
    slices: chosen.slices ?? [],
    providerTimeLimitMs,
    retain: chosen.retain === 'compact' ? COMPACT_RETENTION : FULL_RETENTION,
    madeFrom: chosen.madeFrom,
  };
  return { ...steering, configurationHash: hashText(canonicalJson(describe(steering))) };
}

function checkAmount(name: string, value: unknown, min: number, max: number = Number.MAX_SAFE_INTEGER): void {
  if (value === undefined || (typeof value === 'number' && value >= min && value <= max)) return;
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
  throw invalidArgument(`${name} must be a number ${range}, got ${JSON.stringify(value)}`, {
    details: { name, value },
  });
}

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

/** The amount of history that a run keeps in memory. Counts, patterns, cadence and caps are exact with either retention. */
interface Retention {
  /** Maximum number of items by slice name; default: the slice's own `retain`. */
  readonly slices: Readonly<Record<string, number>>;
  readonly analysis: AnalysisRetention;
  readonly identities: number;
}

const FULL_RETENTION: Retention = {
  slices: {},
  analysis: FULL_ANALYSIS_RETENTION,
  identities: MAX_IDENTITIES,
};

/**
 * For processes that load and save the state at every event. Advice is that of full retention, unless a provider reads
 * more than 24 calls for `recentToolCalls`, `errorRate` and the window of `paceFeedback`; 48 for the window of a
 * classifier and `recentCalls()`; 64 identities (full: 256); 4 items in the slices of advice, so an acknowledgement by
 * provider name finds only those. Built-ins with defaults use 20 or fewer. Source: the state of 10,000 calls with many
 * patterns is about 64 KB of JSON.
 */
const COMPACT_RETENTION: Retention = {
  slices: {
    [ToolInvoked.sliceName]: 24,
    [Feedback.sliceName]: 4,
    [Assessment.sliceName]: 4,
    [GuidanceDelivered.sliceName]: 4,
    [Acknowledgement.sliceName]: 16,
    // The slice has one entry per occurrence of a pattern, and only the few open ones are read.
    [PatternTriggerLedger.sliceName]: 32,
  },
  analysis: { recentCalls: 48, recentErrors: 8, closedPatterns: 8 },
  identities: 64,
};
