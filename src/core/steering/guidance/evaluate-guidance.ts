import type { GuidanceContext, GuidanceProviderConfig } from '../prompt/guidance-provider.ts';
import {
  askProvider,
  type ProducedGuidance,
  type ProviderAnswer,
  providerNameOf,
  type SkippedGuidance,
} from './ask-provider.ts';
import { refusalRule } from '../prompt/refusal.ts';
import { STEERING_DEFAULTS } from '../prompt/steering-defaults.ts';
import type { ResolvedGuidanceConfig } from '../prompt/guidance-config.ts';
import type { GuidanceFault } from './guidance-fault.ts';

/** The counts of one provider. */
export interface GuidanceUse {
  /** The last turn in which guidance was given. */
  readonly turn: number;
  /** Number of guidance texts in that turn. */
  readonly inTurn: number;
  /** Number of guidance texts in the run. */
  readonly inRun: number;
}

/** The counts for the limits. Plain JSON. Its size is bounded by the number of providers. */
export interface GuidanceState {
  /** The last turn in which guidance was given. */
  readonly turn: number;
  /** Number of guidance texts of all providers in that turn. */
  readonly inTurn: number;
  /** Counts by provider name. */
  readonly providers: Readonly<Record<string, GuidanceUse>>;
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

/** The result at a decision point. Plain JSON. */
export interface GuidanceEvaluation {
  /** Guidance to give, in order. */
  readonly produced: readonly ProducedGuidance[];
  readonly skipped: readonly SkippedGuidance[];
  readonly faults: readonly GuidanceFault[];
  /** Pass this state to the next evaluation. */
  readonly state: GuidanceState;
}

export interface EvaluateGuidanceOptions {
  /** Maximum number of guidance texts per turn over all providers; default 3. */
  readonly maxGuidancePerTurn?: number | undefined;
  /**
   * Noise control, which is called last. If it returns false, the item is skipped and not counted. Must not throw. Default:
   * all guidance is admitted.
   */
  readonly admit?: ((item: ProducedGuidance) => boolean) | undefined;
  /** Keys (`guidance:NAME`) of disabled providers. Default: none. */
  readonly disabled?: ReadonlySet<string> | undefined;
  /** A monotonic clock in milliseconds, such as `performance.now`. Default: overruns are not detected. */
  readonly measureMs?: (() => number) | undefined;
  /** Time limit of a provider in milliseconds; default 50. */
  readonly timeLimitMs?: number | undefined;
  /** Called for each overrun with the provider's key. The guidance is still used. Must not throw. */
  readonly onOverrun?: ((key: string, durationMs: number) => void) | undefined;
  /** Removes secrets from reasons and fault messages. Must not throw. Default: no change. */
  readonly redact?: ((text: string) => string) | undefined;
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
    const answer = askInTime(config, context, options);
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
    const reason =
      (isHeld(item, config, context) ? 'after-refusal' : undefined) ??
      ownLimit(item, config, countedState, turn) ??
      (isServed(item.injection.category, produced) ? 'same-category' : undefined) ??
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

function askInTime(
  config: GuidanceProviderConfig,
  context: GuidanceContext,
  options: EvaluateGuidanceOptions,
): ProviderAnswer {
  const { measureMs, timeLimitMs = STEERING_DEFAULTS.providerTimeLimitMs, onOverrun, redact } = options;
  if (measureMs === undefined) return askProvider(config, context, redact);
  const startedMs = measureMs();
  const answer = askProvider(config, context, redact);
  const tookMs = measureMs() - startedMs;
  if (tookMs > timeLimitMs) onOverrun?.(guidanceKey(config), tookMs);
  return answer;
}

/** The key is built only if a provider is disabled, because this function runs very often. */
function isDisabled(config: GuidanceProviderConfig, disabled: ReadonlySet<string> | undefined): boolean {
  return disabled !== undefined && disabled.size > 0 && disabled.has(guidanceKey(config));
}

/** The key distinguishes a guidance provider from a feedback provider of the same name. */
function guidanceKey(config: GuidanceProviderConfig): string {
  return `guidance:${providerNameOf(config)}`;
}

/** Returns true if the guidance may concern a call that a person or a policy refused. */
function isHeld(
  { classification }: ProducedGuidance,
  { provider }: ResolvedGuidanceConfig,
  { trajectory }: GuidanceContext,
): boolean {
  return provider.afterRefusals !== true && refusalRule(trajectory, classification.pattern) !== undefined;
}

function isServed(category: string, produced: readonly ProducedGuidance[]): boolean {
  return produced.some(({ injection }) => injection.category === category);
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
