import type { GuidanceContext, GuidanceProviderConfig } from '../prompt/guidance-provider.ts';
import {
  askProvider,
  type ProducedGuidance,
  type ProviderAnswer,
  providerNameOf,
  type SkippedGuidance,
} from './ask-provider.ts';
import type { ResolvedGuidanceConfig } from './guidance-config.ts';
import type { GuidanceFault } from './guidance-fault.ts';

/** How often one provider spoke. */
export interface GuidanceUse {
  /** The last turn in which it spoke. */
  readonly turn: number;
  /** Items in that turn. */
  readonly inTurn: number;
  /** Items in the run. */
  readonly inRun: number;
}

/** What the caps count. Plain JSON, bounded by the number of providers. */
export interface GuidanceState {
  /** The turn of the last evaluation that produced something. */
  readonly turn: number;
  /** Items of all providers in that turn. */
  readonly inTurn: number;
  /** By provider name. */
  readonly providers: Readonly<Record<string, GuidanceUse>>;
}

/** Nothing was said yet. */
export const EMPTY_GUIDANCE_STATE: GuidanceState = { turn: -1, inTurn: 0, providers: {} };

/** How often `provider` spoke; undefined when it never did. */
export function guidanceUse(state: GuidanceState, provider: string): GuidanceUse | undefined {
  return Object.hasOwn(state.providers, provider) ? state.providers[provider] : undefined;
}

/** Items of all providers in `turn`. */
export function itemsInTurn(state: GuidanceState, turn: number): number {
  return state.turn === turn ? state.inTurn : 0;
}

/** The state after `provider` said one more item in `turn`. */
export function countItem(state: GuidanceState, provider: string, turn: number): GuidanceState {
  const before = guidanceUse(state, provider);
  const use: GuidanceUse = {
    turn,
    inTurn: (before?.turn === turn ? before.inTurn : 0) + 1,
    inRun: (before?.inRun ?? 0) + 1,
  };
  return { turn, inTurn: itemsInTurn(state, turn) + 1, providers: { ...state.providers, [provider]: use } };
}

/** What came of a decision point. Plain JSON. */
export interface GuidanceEvaluation {
  /** What is to be said, in order. */
  readonly produced: readonly ProducedGuidance[];
  /** What was relevant and is not said. */
  readonly skipped: readonly SkippedGuidance[];
  readonly faults: readonly GuidanceFault[];
  /** Hand it to the next evaluation. */
  readonly state: GuidanceState;
}

/** Limits over all providers, and what the host does besides. */
export interface EvaluateGuidanceOptions {
  /** Most items of all providers a turn; default 3. */
  readonly maxGuidancePerTurn?: number | undefined;
  /**
   * Asked last, of what no limit holds back: false skips it, and it counts nowhere. Noise control belongs here. It
   * must not throw. Default: everything is admitted.
   */
  readonly admit?: ((item: ProducedGuidance) => boolean) | undefined;
  /** Keys (`guidance:NAME`) of providers that are not asked. Default: none. */
  readonly disabled?: ReadonlySet<string> | undefined;
  /** A steady clock in milliseconds, such as `performance.now`. Default: nothing is measured. */
  readonly measureMs?: (() => number) | undefined;
  /** What a provider may take before it counts as an overrun; default 50. */
  readonly timeLimitMs?: number | undefined;
  /** Told of each overrun with the provider's key; what it said is kept. It must not throw. */
  readonly onOverrun?: ((key: string, durationMs: number) => void) | undefined;
  /** Takes secrets out of reasons and of what providers throw, before they are cut. It must not throw. Default: they stay. */
  readonly redact?: ((text: string) => string) | undefined;
}

const DEFAULT_TIME_LIMIT_MS = 50;

interface Candidate {
  readonly item: ProducedGuidance;
  readonly config: ResolvedGuidanceConfig;
}

/**
 * Asks every provider what to say at the context's decision point. Those that are relevant and sure enough are sorted
 * by priority, lowest number first, equal ones in order of declaration. Then, from the first to the last, one is
 * skipped that is over its provider's limits (cooldown, run, turn), whose category was already served in this
 * evaluation, for which the turn has no room left, or which `admit` refuses.
 *
 * A provider that throws or returns nonsense is a fault in the answer; the others still count. Counts are kept by
 * provider name, so two configurations of one provider share them.
 *
 * Pure, apart from what providers do. Cost: one `classify` per provider, and a sort of the few that apply.
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
  const { maxGuidancePerTurn = 3 } = options;
  const turn = context.turnCount;
  const produced: ProducedGuidance[] = [];
  let counted = state;
  for (const { item, config } of candidates.sort(byPriority)) {
    const reason =
      ownLimit(item, config, counted, turn) ??
      (isServed(item.injection.category, produced) ? 'same-category' : undefined) ??
      (itemsInTurn(counted, turn) >= maxGuidancePerTurn ? 'turn-full' : undefined) ??
      (options.admit?.(item) === false ? 'not-admitted' : undefined);
    if (reason === undefined) {
      produced.push(item);
      counted = countItem(counted, item.providerName, turn);
    } else {
      const { providerName, decisionPoint, classification, injection } = item;
      skipped.push({ providerName, decisionPoint, classification, reason, key: injection.key });
    }
  }
  return { produced, skipped, faults, state: counted };
}

function askInTime(
  config: GuidanceProviderConfig,
  context: GuidanceContext,
  options: EvaluateGuidanceOptions,
): ProviderAnswer {
  const { measureMs, timeLimitMs = DEFAULT_TIME_LIMIT_MS, onOverrun, redact } = options;
  if (measureMs === undefined) return askProvider(config, context, redact);
  const startedMs = measureMs();
  const answer = askProvider(config, context, redact);
  const tookMs = measureMs() - startedMs;
  if (tookMs > timeLimitMs) onOverrun?.(guidanceKey(config), tookMs);
  return answer;
}

/** The key is made only where somebody is disabled: nearly nobody ever is, and this is asked of each provider each time. */
function isDisabled(config: GuidanceProviderConfig, disabled: ReadonlySet<string> | undefined): boolean {
  return disabled !== undefined && disabled.size > 0 && disabled.has(guidanceKey(config));
}

/** Tells a guidance provider from a feedback provider of the same name. */
function guidanceKey(config: GuidanceProviderConfig): string {
  return `guidance:${providerNameOf(config)}`;
}

function isServed(category: string, produced: readonly ProducedGuidance[]): boolean {
  return produced.some(({ injection }) => injection.category === category);
}

/** Node sorts stably, so equal priorities keep the order of declaration. */
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
  // A turn below the last one means that the host began to count anew.
  if (cooldownTurns > 0 && turn >= use.turn && turn - use.turn <= cooldownTurns) return 'cooldown';
  if (use.inRun >= config.maxPerRun) return 'max-per-run';
  return use.turn === turn && use.inTurn >= config.maxPerTurn ? 'max-per-turn' : undefined;
}
