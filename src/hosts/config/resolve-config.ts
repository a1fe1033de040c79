import { isAbsolute, join, resolve } from 'node:path';
import { present } from '../../core/base/json.ts';
import { canonicalJson } from '../../core/base/canonical-json.ts';
import type { TimeSpan } from '../../core/base/deadline.ts';
import { hashText } from '../../core/base/hash.ts';
import { parseBytes, parseDuration } from '../../core/base/number-text.ts';
import type { RedactionOptions } from '../../core/redact/redactor.ts';
import { projectStoreFile } from '../../core/node/git-folder.ts';
import { parseStoreAddress, shownAddress, storePath, type StoreKind } from '../../stores/store-address.ts';
import type {
  CompletionSection,
  CoxswainConfig,
  DetectorSection,
  GcSection,
  RedactionSection,
  StoreSection,
  DeadlineFrom,
  NotifySection,
  BankEntry,
  Condition,
  Switch,
  TriggerConfig,
} from './coxswain-config.ts';
import { COMPLETION_DEFAULTS, type CompletionCheck } from '../../core/run/completion-check.ts';
import type { Budget } from '../../core/base/budget.ts';
import type { ModelPrices } from '../../core/records/answer-cost.ts';
import type { SteeringOptions } from '../../core/steering/steering-options.ts';
import { staticFeedback } from '../../core/steering/feedback/built-in-feedback.ts';
import { defineGuidance } from '../../core/steering/guidance/define-guidance.ts';
import { KnownLessons } from '../../core/steering/guidance/lesson-guidance.ts';
import type { FeedbackProviderConfig } from '../../core/steering/prompt/feedback-provider.ts';
import type { GuidanceProviderConfig } from '../../core/steering/prompt/guidance-provider.ts';
import { STANDARD_NOISE } from '../../core/steering/standard-steering.ts';
import { DETECTORS } from '../../core/detect/detectors/default-detectors.ts';
import type { DetectorFactory } from '../../core/detect/detectors/define-detector.ts';
import type { PatternDetector } from '../../core/detect/patterns/pattern-detector.ts';
import {
  type AnyFeedback,
  FEEDBACK,
  type AnyClassifier,
  type AnyGuidance,
  BANK_LIMITS,
  CLASSIFIERS,
  GUIDANCE,
  type GuidanceLimits,
} from './providers.ts';
import {
  allOf,
  anyOf,
  not,
  threshold,
  type Classifier,
  sensitiveContentPending,
} from '../../core/steering/guidance/classifier.ts';

export interface ResolveConfigOptions {
  /** The absolute base folder of relative paths: the project folder. */
  readonly folder: string;
  /** The absolute path for `~/`. */
  readonly homeFolder: string;
  /** Environment with `XDG_DATA_HOME`; default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Fills in all defaults. With a result of `decodeConfig`, neither this function nor starting a run throws. */
export function resolveConfig(config: CoxswainConfig, options: ResolveConfigOptions): ResolvedConfig {
  const { budget, holdout = 0, deadlineFrom = 'session', forceTurnAtStop = false } = config;
  const deadline = spanOf(config.deadline);
  const completion = completionOf(config.completion ?? {}, options);
  return {
    steering: steeringOf(config),
    redaction: redactionOf(config.redaction ?? {}, options.folder),
    ...present({ deadline }),
    deadlineFrom,
    ...present({ budget, prices: config.prices }),
    holdout,
    forceTurnAtStop,
    store: storeOf(config.store ?? {}, options),
    gc: gcOf(config.gc ?? {}),
    ...present({ completion, notify: config.notify }),
    hash: configHash(config),
  };
}

/** Ignores the redaction key, the password of the store, and notifications. */
function configHash({ $schema: _schema, notify: _notify, redaction, store, ...config }: CoxswainConfig): string {
  const { key: _key, ...open } = redaction ?? {};
  const { address } = store ?? {};
  const shown = address === undefined ? {} : { store: { address: shownAddress(address) } };
  return hashText(canonicalJson({ ...config, ...shown, redaction: open }));
}

function spanOf(deadline: CoxswainConfig['deadline']): TimeSpan | undefined {
  if (typeof deadline !== 'string') return deadline;
  const durationMs = parseDuration(deadline);
  return durationMs === undefined ? undefined : { seconds: durationMs / 1_000 };
}

function redactionOf(section: RedactionSection, folder: string): RedactionOptions | false {
  if (section.enabled === false) return false;
  const { mode, key, rules, off, allow } = section;
  return {
    ...present({ mode }),
    ...(mode === 'structureOnly' ? { key: key ?? weakKeyOf(folder) } : {}),
    ...(rules === undefined
      ? {}
      : { rules: rules.map(({ name, pattern }) => ({ name, pattern: new RegExp(pattern) })) }),
    ...present({ off, allow }),
  };
}

/** The same for all processes of the project. It can be guessed, which is reported. */
function weakKeyOf(folder: string): string {
  return hashText(folder) + hashText(folder, 1);
}

function pathOf(path: string, { folder, homeFolder }: ResolveConfigOptions): string {
  if (path === '~' || path.startsWith('~/')) return join(homeFolder, path.slice(1));
  return isAbsolute(path) ? resolve(path) : resolve(folder, path);
}

function storeOf({ address }: StoreSection, options: ResolveConfigOptions): ResolvedStore {
  if (address === undefined) {
    const { env = process.env, folder, homeFolder } = options;
    return { kind: 'sqlite', address: projectStoreFile(folder, { env, homeFolder }) };
  }
  const { kind } = parseStoreAddress(address);
  const path = storePath(address);
  if (kind === 'path') return { kind: 'sqlite', address: pathOf(path ?? '', options) };
  return { kind, address: path === undefined ? address : `${kind}:${pathOf(path, options)}` };
}

function gcOf({ olderThan, maxSize }: GcSection): ResolvedGc {
  const olderThanMs = olderThan === undefined ? undefined : parseDuration(olderThan);
  const maxBytes = maxSize === undefined ? undefined : parseBytes(maxSize);
  return present({ olderThanMs, maxBytes });
}

function completionOf(section: CompletionSection, options: ResolveConfigOptions): CompletionCheck | undefined {
  const { files = [], command, timeout, maxAttempts = COMPLETION_DEFAULTS.maxAttempts } = section;
  if (files.length === 0 && command === undefined) return undefined;
  return {
    files: files.map((file) => pathOf(file, options)),
    ...present({ command }),
    timeoutMs: (timeout === undefined ? undefined : parseDuration(timeout)) ?? COMPLETION_DEFAULTS.timeoutMs,
    maxAttempts,
  };
}

/** A configuration with all defaults filled in. */
export interface ResolvedConfig {
  /** Options for `createCoxswain({ ...steering, redaction, store })`. */
  readonly steering: SteeringOptions;
  readonly redaction: RedactionOptions | false;
  readonly deadline?: TimeSpan;
  readonly deadlineFrom: DeadlineFrom;
  /** Absent if there is no limit. */
  readonly budget?: Budget;
  /** Configured prices, in addition to the built-in prices. */
  readonly prices?: ModelPrices;
  /** Share (0 to 1) of episodes whose advice is withheld. */
  readonly holdout: number;
  /** True if advice may prevent the agent from stopping, at most once per run. */
  readonly forceTurnAtStop: boolean;
  readonly store: ResolvedStore;
  readonly gc: ResolvedGc;
  /** Absent if nothing is checked. */
  readonly completion?: CompletionCheck;
  /** Absent if notifications are disabled. */
  readonly notify?: NotifySection;
  /** 16 hexadecimal digits. Equal for equal configurations, regardless of the order and layout of the files. */
  readonly hash: string;
}

export interface ResolvedStore {
  readonly kind: StoreKind;
  /** An absolute path, or a database URL including its password. `shownAddress` removes the password. */
  readonly address: string;
}

/** Selects the runs to delete. An absent limit deletes nothing. */
export interface ResolvedGc {
  readonly olderThanMs?: number;
  readonly maxBytes?: number;
}

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
    ...((config.guidance?.lessonGuidance ?? false) === false ? {} : { slices: [KnownLessons] }),
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

/** Returns the enabled detectors of a configuration, in the order of `defaultDetectors()`. */
export function detectorsOf(section: DetectorSection): readonly PatternDetector[] {
  // The type of the section guarantees that each kind has the options of its detector.
  const byKind = section as Readonly<Record<string, boolean | Readonly<Record<string, number>> | undefined>>;
  return Object.entries(DETECTORS).flatMap(([kind, factory]) => {
    // Each detector receives the options stored under its kind.
    const create = factory as unknown as DetectorFactory<string>;
    const options = byKind[kind];
    if (options === false) return [];
    return [typeof options === 'object' ? create(options) : create()];
  });
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
