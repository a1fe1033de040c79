import {
  type GuidanceContext,
  type GuidanceProviderConfig,
  type ResolvedGuidanceConfig,
  resolveGuidanceConfig,
} from '../prompt/guidance-provider.ts';
import { refusalRule } from '../prompt/refusal.ts';
import { STEERING_DEFAULTS } from '../prompt/define-provider.ts';
import { completeDraft, injectionProblem } from '../feedback/check-draft.ts';
import { askInTime, type AskOptions, type GuidanceFault, ignoreRejection } from '../advice-engine.ts';
import { type Mutable, isJsonObject } from '../../base/json.ts';
import {
  type ClassificationResult,
  type DecisionPoint,
  type GuidanceInjection,
  type PatternReference,
  DECISION_POINTS,
  type Severity,
} from '../../records/spoken-advice.ts';
import { cutMessage, messageOf, invalidArgument } from '../../base/error.ts';
import { type AdviceCandidate, severityOfLevel } from '../advice/advice.ts';
import type { Session } from '../../session/session.ts';
import {
  GuidanceDelivered,
  GuidanceDeliveredEvent,
  GuidanceEvaluatedEvent,
  GuidanceFaults,
  type GuidanceState,
  GuidanceStates,
  type GuidanceUse,
  type SkippedGuidance,
  SkippedGuidances,
} from './guidance-slices.ts';

export interface CollectGuidanceOptions extends EvaluateGuidanceOptions {
  /** Default: the decision point of the context. */
  readonly decisionPoint?: DecisionPoint;
}

/** Sessions whose providers are running. A provider that collects guidance itself would otherwise never end. */
const busySessions = new WeakSet<Session>();

/**
 * Returns the guidance of the prompt's `guidanceProviders` at a decision point, in order. It is for a host with its own
 * session. Counts, skips and faults are kept in slices of the session (`GuidanceStates`, `SkippedGuidances`,
 * `GuidanceFaults`). Each guidance text is dispatched as `GuidanceDelivered` with the channel `host`, and the caller must
 * deliver it.
 *
 * Never throws because of a provider.
 *
 * @throws CoxswainError "invalid-argument" for an unknown decision point
 *
 * Cost: as `evaluateGuidance`, and a dispatch per result.
 */
export function collectGuidance(
  context: GuidanceContext,
  options: CollectGuidanceOptions = {},
): readonly GuidanceInjection[] {
  const { session } = context;
  const decisionPoint = options.decisionPoint ?? context.decisionPoint;
  if (!DECISION_POINTS.includes(decisionPoint)) {
    const points = DECISION_POINTS.join(', ');
    throw invalidArgument(`"${decisionPoint}" is not a decision point; use one of ${points}`);
  }
  for (const slice of [GuidanceDelivered, SkippedGuidances, GuidanceFaults]) session.register(slice);
  const state = session.slice(GuidanceStates).latest() ?? EMPTY_GUIDANCE_STATE;
  const atMs = context.nowMs;
  if (busySessions.has(session)) {
    const message = `guidance was collected at ${decisionPoint} by a provider; providers must not collect guidance`;
    const faults = [{ provider: '', phase: 'collect', code: 'provider-recursed', message }] as const;
    session.dispatch(GuidanceEvaluatedEvent({ skipped: [], faults, state }, { atMs }));
    return [];
  }
  busySessions.add(session);
  try {
    const pointContext = decisionPoint === context.decisionPoint ? context : { ...context, decisionPoint };
    const evaluation = evaluateGuidance(context.prompt.guidanceProviders ?? [], pointContext, state, options);
    const { produced, skipped, faults } = evaluation;
    if (produced.length + skipped.length + faults.length > 0) {
      session.dispatch(GuidanceEvaluatedEvent({ skipped, faults, state: evaluation.state }, { atMs }));
    }
    for (const item of produced) {
      session.dispatch(GuidanceDeliveredEvent({ ...item, atMs, delivered: true, channel: 'host' }, { atMs }));
    }
    return produced.map((item) => item.injection);
  } finally {
    busySessions.delete(session);
  }
}

/** Joins guidance into a text for the model, with blank lines. Returns undefined if there is no guidance. */
export function formatGuidance(injections: readonly GuidanceInjection[]): string | undefined {
  return injections.length === 0 ? undefined : injections.map((injection) => injection.content).join('\n\n');
}

/** Guidance before delivery. Plain JSON. */
export interface ProducedGuidance {
  readonly providerName: string;
  readonly injection: GuidanceInjection;
  readonly decisionPoint: DecisionPoint;
  readonly classification: ClassificationResult;
}

export type ProviderAnswer =
  | { readonly kind: 'silent' }
  | { readonly kind: 'candidate'; readonly item: ProducedGuidance; readonly config: ResolvedGuidanceConfig }
  | { readonly kind: 'skipped'; readonly skip: SkippedGuidance }
  | { readonly kind: 'fault'; readonly fault: GuidanceFault };

const SILENT: ProviderAnswer = { kind: 'silent' };
const MAX_REASON_CHARS = 200;
const NOT_RELEVANT: ClassificationResult = { relevant: false, confidence: 0 };

/** Calls `provide` if the confidence is high enough. Never throws. `redact` applies before reasons and messages are cut. */
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
  ignoreRejection(value);
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

function providerNameOf(config: GuidanceProviderConfig): string {
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
  const classification: Mutable<ClassificationResult> = { relevant, confidence };
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

/** The identity of its pattern, so that the advice is not given as feedback too; else that of its provider. */
export function guidanceCandidate(produced: ProducedGuidance): AdviceCandidate & { readonly severity: Severity } {
  const { classification, providerName: provider } = produced;
  const { level } = classification.pattern ?? {};
  const severity = level === undefined ? 'info' : severityOfLevel(level);
  return { source: 'guidance', provider, ...guidanceSubject(provider, classification), severity };
}

/** Returns what guidance is about: its pattern, or the provider itself. */
export function guidanceSubject(
  provider: string,
  { pattern }: ClassificationResult,
): Pick<AdviceCandidate, 'identity' | 'level' | 'occurrences'> {
  return pattern ?? { identity: `guidance:${provider}` };
}

export const EMPTY_GUIDANCE_STATE: GuidanceState = { turn: -1, inTurn: 0, providers: {} };

function guidanceUse(state: GuidanceState, provider: string): GuidanceUse | undefined {
  return Object.hasOwn(state.providers, provider) ? state.providers[provider] : undefined;
}

function itemsInTurn(state: GuidanceState, turn: number): number {
  return state.turn === turn ? state.inTurn : 0;
}

function countItem(state: GuidanceState, provider: string, turn: number): GuidanceState {
  const useBefore = guidanceUse(state, provider);
  const use: GuidanceUse = {
    turn,
    inTurn: (useBefore?.turn === turn ? useBefore.inTurn : 0) + 1,
    inRun: (useBefore?.inRun ?? 0) + 1,
  };
  return { turn, inTurn: itemsInTurn(state, turn) + 1, providers: { ...state.providers, [provider]: use } };
}

/** The provider's last guidance did not reach the agent, and counts toward no limit but the cooldown. */
export function withdrawGuidance(state: GuidanceState, provider: string): GuidanceState {
  const use = guidanceUse(state, provider);
  if (use === undefined || use.inRun === 0) return state;
  const withdrawn = { ...use, inTurn: Math.max(0, use.inTurn - 1), inRun: use.inRun - 1 };
  const inTurn = state.turn === use.turn ? Math.max(0, state.inTurn - 1) : state.inTurn;
  return { ...state, inTurn, providers: { ...state.providers, [provider]: withdrawn } };
}

/** The result at a decision point. Plain JSON. */
export interface GuidanceEvaluation {
  /** Guidance to give, in order. */
  readonly produced: readonly ProducedGuidance[];
  readonly skipped: readonly SkippedGuidance[];
  readonly faults: readonly GuidanceFault[];
  readonly state: GuidanceState;
}

export interface EvaluateGuidanceOptions extends AskOptions {
  /** Maximum number of guidance texts per turn over all providers; default 3. */
  readonly maxGuidancePerTurn?: number | undefined;
  /** Noise control, called last. If false, the item is skipped and not counted. Must not throw. Default: all are admitted. */
  readonly admit?: ((item: ProducedGuidance) => boolean) | undefined;
}

interface Candidate {
  readonly item: ProducedGuidance;
  readonly config: ResolvedGuidanceConfig;
}

/**
 * Runs every provider at the context's decision point. Relevant guidance with enough confidence is sorted by priority,
 * lowest number first. Equal priorities keep the order of declaration. An item is skipped for one of these reasons: a call was
 * refused a short time ago, a limit of its provider is reached (cooldown, run, turn), its category already has guidance in this evaluation, the turn is full,
 * or `admit` returns false.
 *
 * An exception or an invalid result is returned as a fault. Counts are kept by provider name, so two configurations of one
 * provider share them.
 *
 * Pure, apart from providers. Cost: one `classify` per provider, and a sort of the few that are relevant.
 */
export function evaluateGuidance(
  configs: readonly GuidanceProviderConfig[],
  context: GuidanceContext,
  state: GuidanceState,
  options: EvaluateGuidanceOptions = {},
): GuidanceEvaluation {
  const candidates: Candidate[] = [];
  const skipped: SkippedGuidance[] = [];
  const faults: GuidanceFault[] = [];
  for (const config of configs) {
    if (isDisabled(config, options.disabled)) continue;
    const answer = askInTime(
      () => askProvider(config, context, options.redact),
      () => guidanceKey(config),
      options,
    );
    if (answer.kind === 'candidate') candidates.push(answer);
    else if (answer.kind === 'skipped') skipped.push(answer.skip);
    else if (answer.kind === 'fault') faults.push(answer.fault);
  }
  if (candidates.length === 0) return { produced: [], skipped, faults, state };
  const { maxGuidancePerTurn = STEERING_DEFAULTS.maxGuidancePerTurn } = options;
  const turn = context.turnCount;
  const produced: ProducedGuidance[] = [];
  let countedState = state;
  for (const { item, config } of candidates.sort(byPriority)) {
    const isServed = produced.some(({ injection }) => injection.category === item.injection.category);
    const reason =
      (isHeld(item, config, context) ? 'after-refusal' : undefined) ??
      ownLimit(item, config, countedState, turn) ??
      (isServed ? 'same-category' : undefined) ??
      (itemsInTurn(countedState, turn) >= maxGuidancePerTurn ? 'turn-full' : undefined) ??
      (options.admit?.(item) === false ? 'not-admitted' : undefined);
    if (reason === undefined) {
      produced.push(item);
      countedState = countItem(countedState, item.providerName, turn);
    } else {
      const { providerName, decisionPoint, classification, injection } = item;
      skipped.push({ providerName, decisionPoint, classification, reason, key: injection.key });
    }
  }
  return { produced, skipped, faults, state: countedState };
}

/** The key is built only if a provider is disabled, because this function runs very often. */
function isDisabled(config: GuidanceProviderConfig, disabled: ReadonlySet<string> | undefined): boolean {
  return disabled !== undefined && disabled.size > 0 && disabled.has(guidanceKey(config));
}

/** The key distinguishes a guidance provider from a feedback provider of the same name. */
function guidanceKey(config: GuidanceProviderConfig): string {
  return `guidance:${providerNameOf(config)}`;
}

function isHeld(
  { classification }: ProducedGuidance,
  { provider }: ResolvedGuidanceConfig,
  { trajectory }: GuidanceContext,
): boolean {
  return provider.afterRefusals !== true && refusalRule(trajectory, classification.pattern) !== undefined;
}

/** Sorting is stable, so equal priorities keep the order of declaration. */
function byPriority(one: Candidate, other: Candidate): number {
  return one.item.injection.priority - other.item.injection.priority;
}

function ownLimit(
  item: ProducedGuidance,
  config: ResolvedGuidanceConfig,
  state: GuidanceState,
  turn: number,
): SkippedGuidance['reason'] | undefined {
  const use = guidanceUse(state, item.providerName);
  if (use === undefined) return undefined;
  const { cooldownTurns } = config;
  // A turn below the last turn means that the host restarted its count.
  if (cooldownTurns > 0 && turn >= use.turn && turn - use.turn <= cooldownTurns) return 'cooldown';
  if (use.inRun >= config.maxPerRun) return 'max-per-run';
  return use.turn === turn && use.inTurn >= config.maxPerTurn ? 'max-per-turn' : undefined;
}
