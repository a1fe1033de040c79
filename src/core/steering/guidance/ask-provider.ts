import type { Mutable } from '../../base/mutable.ts';
import { isJsonObject } from '../../base/json.ts';
import type {
  ClassificationResult,
  DecisionPoint,
  GuidanceInjection,
  PatternReference,
} from '../../records/guidance.ts';
import type { GuidanceContext, GuidanceProviderConfig } from '../prompt/guidance-provider.ts';
import { completeDraft, injectionProblem, type InjectionProblem } from './check-injection.ts';
import { type ResolvedGuidanceConfig, resolveGuidanceConfig } from '../prompt/guidance-config.ts';
import { cutMessage, messageOf } from '../../base/error.ts';
import type { GuidanceFault } from './guidance-fault.ts';
import { type AdviceCandidate, severityOfLevel } from '../advice/advice.ts';
import type { Severity } from '../../records/feedback.ts';

/** Guidance before delivery. Plain JSON. */
export interface ProducedGuidance {
  readonly providerName: string;
  readonly injection: GuidanceInjection;
  readonly decisionPoint: DecisionPoint;
  readonly classification: ClassificationResult;
}

/** Relevant guidance that was not given. Plain JSON. */
export interface SkippedGuidance {
  readonly providerName: string;
  readonly decisionPoint: DecisionPoint;
  readonly classification: ClassificationResult;
  /**
   * Why the guidance was skipped. `low-confidence`: the confidence is below `minConfidence`. `nothing-provided`: `provide`
   * returned undefined. `invalid-…`: the draft breaks a rule. `cooldown`, `max-per-run`, `max-per-turn`: a limit of the
   * provider was reached. `same-category`: other guidance of that category has precedence. `turn-full`: the limit per turn
   * of all providers was reached. `after-refusal`: a call was refused a short time ago (`GuidanceProvider.afterRefusals`).
   * `not-admitted`: `admit` returned false.
   */
  readonly reason:
    | 'low-confidence'
    | 'nothing-provided'
    | InjectionProblem
    | 'cooldown'
    | 'max-per-run'
    | 'max-per-turn'
    | 'same-category'
    | 'turn-full'
    | 'after-refusal'
    | 'not-admitted';
  /** Key of the injection, if it is valid. */
  readonly key?: string;
}

export type ProviderAnswer =
  | { readonly kind: 'silent' }
  | { readonly kind: 'candidate'; readonly item: ProducedGuidance; readonly config: ResolvedGuidanceConfig }
  | { readonly kind: 'skipped'; readonly skip: SkippedGuidance }
  | { readonly kind: 'fault'; readonly fault: GuidanceFault };

const SILENT: ProviderAnswer = { kind: 'silent' };
const MAX_REASON_CHARS = 200;
const NOT_RELEVANT: ClassificationResult = { relevant: false, confidence: 0 };

/**
 * Calls `classify`. If the confidence is high enough, also calls `provide`. Never throws.
 *
 * @param redact  removes secrets from reasons and messages before they are cut
 */
export function askProvider(
  config: GuidanceProviderConfig,
  context: GuidanceContext,
  redact: (text: string) => string = (text) => text,
): ProviderAnswer {
  let phase: GuidanceFault['phase'] = 'config';
  try {
    const resolvedConfig = resolveGuidanceConfig(config);
    const { provider, minConfidence } = resolvedConfig;
    if (!resolvedConfig.decisionPoints.includes(context.decisionPoint)) return SILENT;
    phase = 'classify';
    const classifiedValue: unknown = provider.classify(context);
    const classification = readClassification(classifiedValue, redact);
    if (classification === undefined) return invalidAnswer(config, phase, classifiedValue);
    if (!classification.relevant) return SILENT;
    const position = { providerName: provider.name, decisionPoint: context.decisionPoint, classification };
    if (classification.confidence < minConfidence) return skippedAnswer({ ...position, reason: 'low-confidence' });
    phase = 'provide';
    const providedValue: unknown = provider.provide(context);
    if (providedValue === undefined) return skippedAnswer({ ...position, reason: 'nothing-provided' });
    const injection = readInjection(providedValue, provider.category);
    if (injection === undefined) return invalidAnswer(config, phase, providedValue);
    const problem = injectionProblem(injection);
    if (problem === undefined) return { kind: 'candidate', item: { ...position, injection }, config: resolvedConfig };
    return skippedAnswer({
      ...position,
      reason: problem,
      ...(problem === 'invalid-key' ? {} : { key: injection.key }),
    });
  } catch (thrown) {
    const code = phase === 'config' ? 'provider-misconfigured' : 'provider-failed';
    return faultAnswer(config, phase, code, cutMessage(messageOf(thrown), redact));
  }
}

function skippedAnswer(skip: SkippedGuidance): ProviderAnswer {
  return { kind: 'skipped', skip };
}

function invalidAnswer(config: GuidanceProviderConfig, phase: GuidanceFault['phase'], value: unknown): ProviderAnswer {
  // A provider may return a promise by mistake. If it is rejected later, the process must not end.
  if (value instanceof Promise) value.catch(() => undefined);
  const kind = value instanceof Promise ? 'a promise' : value === null ? 'null' : `a value of type ${typeof value}`;
  const expected = phase === 'classify' ? 'a ClassificationResult' : 'a GuidanceInjection';
  const message = `${phase} must return ${expected}, it returned ${kind} of another shape`;
  return faultAnswer(config, phase, 'provider-invalid', message);
}

function faultAnswer(
  config: GuidanceProviderConfig,
  phase: GuidanceFault['phase'],
  code: GuidanceFault['code'],
  message: string,
): ProviderAnswer {
  return { kind: 'fault', fault: { provider: providerNameOf(config), phase, code, message } };
}

/** Returns the provider's name, or `''` if the configuration has none. */
export function providerNameOf(config: GuidanceProviderConfig): string {
  try {
    // An invalid configuration may contain any value.
    const name: unknown = (config as Partial<GuidanceProviderConfig> | null)?.provider?.name;
    return typeof name === 'string' ? name.slice(0, 64) : '';
  } catch {
    return '';
  }
}

/** Copies the known members, so that no other data enters the state or the records. */
function readClassification(value: unknown, redact: (text: string) => string): ClassificationResult | undefined {
  if (!isJsonObject(value)) return undefined;
  const { relevant, confidence, pattern } = value;
  const reason = value['reason'] ?? undefined;
  if (typeof relevant !== 'boolean' || typeof confidence !== 'number') return undefined;
  if (!(confidence >= 0 && confidence <= 1) || (reason !== undefined && typeof reason !== 'string')) return undefined;
  const reference = pattern === undefined ? undefined : readPattern(pattern);
  if (pattern !== undefined && reference === undefined) return undefined;
  if (!relevant) return NOT_RELEVANT;
  const classification: Mutable<ClassificationResult> = {
    relevant,
    confidence,
  };
  if (reason !== undefined) classification.reason = redact(reason).slice(0, MAX_REASON_CHARS);
  if (reference !== undefined) classification.pattern = reference;
  return classification;
}

function readPattern(value: unknown): PatternReference | undefined {
  if (!isJsonObject(value)) return undefined;
  const { identity, level, occurrences } = value;
  if (typeof identity !== 'string' || typeof occurrences !== 'number' || !Number.isFinite(occurrences))
    return undefined;
  return level === 'hint' || level === 'warn' || level === 'strong' ? { identity, level, occurrences } : undefined;
}

function readInjection(value: unknown, ownCategory: string): GuidanceInjection | undefined {
  if (!isJsonObject(value)) return undefined;
  const { key, content, priority, category } = value;
  if (typeof key !== 'string' || typeof content !== 'string') return undefined;
  if (priority !== undefined && typeof priority !== 'number') return undefined;
  if (category !== undefined && typeof category !== 'string') return undefined;
  return completeDraft({ key, content, priority, category }, ownCategory);
}

/**
 * Creates the input of noise control for guidance. Guidance about a pattern has the pattern's identity, so that the same
 * advice is not given both as feedback and as guidance. Other guidance has the identity of its provider.
 */
export function guidanceCandidate(produced: ProducedGuidance): AdviceCandidate & { readonly severity: Severity } {
  const { pattern } = produced.classification;
  if (pattern === undefined) {
    return { source: 'guidance', identity: `guidance:${produced.providerName}`, severity: 'info' };
  }
  const { identity, level, occurrences } = pattern;
  return { source: 'guidance', identity, level, occurrences, severity: severityOfLevel(level) };
}
