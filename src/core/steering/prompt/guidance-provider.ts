import { invalidDefinition } from '../../base/error.ts';
import type { ContextSize } from '../../facts/context-tokens.ts';
import type { Json } from '../../base/json.ts';
import { type ClassificationResult, type DecisionPoint, DECISION_POINTS } from '../../records/spoken-advice.ts';
import type { Session } from '../../session/session.ts';
import type { TrajectoryView } from './prompt.ts';
import type { SeenCall } from './prompt-calls.ts';
import type { Prompt, RenderedPrompt } from './prompt.ts';
import { GUIDANCE_DEFAULTS, checkShare, checkWhole } from './define-provider.ts';

/** `maxPerRun` is `Infinity` if there is no limit. */
export type ResolvedGuidanceConfig = Required<GuidanceProviderConfig>;

const MAX_NAME_CHARS = 64;

// Configurations do not change. They are therefore checked once instead of at every decision point.
const resolvedConfigs = new WeakMap<GuidanceProviderConfig, ResolvedGuidanceConfig>();

/**
 * Cost: O(1) after the first time.
 *
 * @throws CoxswainError "invalid-definition" for a number out of range, an unknown decision point, or a provider
 * without a name, a category, `classify` or `provide`
 */
export function resolveGuidanceConfig(config: GuidanceProviderConfig): ResolvedGuidanceConfig {
  const cachedConfig = resolvedConfigs.get(config);
  if (cachedConfig !== undefined) return cachedConfig;
  const resolvedConfig = checkedConfig(config);
  resolvedConfigs.set(config, resolvedConfig);
  return resolvedConfig;
}

function checkedConfig(config: GuidanceProviderConfig): ResolvedGuidanceConfig {
  const { provider, maxPerRun } = config;
  const { maxPerTurn, minConfidence, cooldownTurns } = { ...GUIDANCE_DEFAULTS, ...config };
  checkProvider(provider);
  checkWhole('maxPerTurn', maxPerTurn);
  checkShare('minConfidence', minConfidence);
  checkWhole('cooldownTurns', cooldownTurns, { min: 0 });
  if (maxPerRun !== undefined) checkWhole('maxPerRun', maxPerRun);
  const decisionPoints = config.decisionPoints ?? provider.decisionPoints ?? DECISION_POINTS;
  for (const point of decisionPoints) {
    if (!DECISION_POINTS.includes(point)) {
      throw invalidDefinition(`"${point}" is not a decision point; use one of ${DECISION_POINTS.join(', ')}`, {
        point,
      });
    }
  }
  return { provider, maxPerTurn, minConfidence, decisionPoints, cooldownTurns, maxPerRun: maxPerRun ?? Infinity };
}

/** @throws CoxswainError "invalid-definition" as `resolveGuidanceConfig`, and if two share a name */
export function checkGuidanceConfigs(configs: readonly GuidanceProviderConfig[]): void {
  const names = new Set<string>();
  for (const config of configs) {
    const { name } = resolveGuidanceConfig(config).provider;
    if (names.has(name))
      throw invalidDefinition(`two guidance providers are named "${name}"; give each its own name`, { name });
    names.add(name);
  }
}

function checkProvider(provider: GuidanceProvider): void {
  // JavaScript callers may pass a value of any type.
  const uncheckedProvider = provider as Partial<GuidanceProvider> | null | undefined;
  for (const member of ['name', 'category'] as const) {
    const text = uncheckedProvider?.[member];
    if (typeof text !== 'string' || text === '' || text.length > MAX_NAME_CHARS) {
      throw invalidDefinition(`a guidance provider's ${member} must be a text of 1 to 64 characters`, { member });
    }
  }
  for (const member of ['classify', 'provide'] as const) {
    if (typeof uncheckedProvider?.[member] === 'function') continue;
    throw invalidDefinition(`guidance provider "${uncheckedProvider?.name}" has no method ${member}`, { member });
  }
}

export interface PendingToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Json;
}

/** The read-only context of classifiers and guidance providers at a decision point. */
export interface GuidanceContext {
  readonly session: Session;
  readonly prompt: Prompt & { readonly guidanceProviders?: readonly GuidanceProviderConfig[] };
  /** The last rendering of the prompt. Absent before the first one. */
  readonly renderedPrompt?: RenderedPrompt;
  readonly trajectory: TrajectoryView;
  /** Non-empty only at `pre_tool_execution`. */
  readonly pendingToolCalls: readonly PendingToolCall[];
  /** Text of the model's last response. Absent before the first one. */
  readonly lastResponse?: string;
  /** Number of model responses. Limits per turn use this number. A host without turns passes its number of calls. */
  readonly turnCount: number;
  readonly toolCallCount: number;
  /** The newest `count` of the current prompt, oldest first. Throws CoxswainError "invalid-argument" outside 0 to 1,000. */
  recentCalls(count: number): readonly SeenCall[];
  /** Unix milliseconds. Use this instead of a clock, so that a replay gives the same result. */
  readonly nowMs: number;
  readonly decisionPoint: DecisionPoint;
  /** Absent before the first response with tokens, and after a compaction. */
  readonly context?: ContextSize;
}

/** A `GuidanceInjection` with optional priority and category. */
export interface GuidanceDraft {
  /** Matches `^[a-z0-9][a-z0-9._-]{0,63}$`. */
  readonly key: string;
  /** 1 to 500 characters. */
  readonly content: string;
  /** A whole number. Guidance with a lower number comes first; default 100. */
  readonly priority?: number;
  /** 1 to 64 characters; default: the provider's category. */
  readonly category?: string;
}

/** Before a decision, synchronous, from the context alone. A fault is recorded; the next provider still runs. */
export interface GuidanceProvider {
  /** Unique in a prompt. Limits are counted by name. */
  readonly name: string;
  /** Default category of its guidance, such as `diagnostic`. */
  readonly category: string;
  /** Default: every point. */
  readonly decisionPoints?: readonly DecisionPoint[];
  /** Also given if one of the last 16 calls was refused, because it does not concern their ends. Default: held back. */
  readonly afterRefusals?: boolean | undefined;
  /** Called at every decision point. It should take microseconds and do no I/O. */
  classify(context: GuidanceContext): ClassificationResult;
  /** Called if `classify` returned relevant with enough confidence. If it returns undefined, no guidance is given. */
  provide(context: GuidanceContext): GuidanceDraft | undefined;
}

export interface GuidanceProviderConfig {
  readonly provider: GuidanceProvider;
  /** Maximum number of guidance texts per turn, a whole number from 1; default 3. */
  readonly maxPerTurn?: number;
  /** Minimum confidence, inclusive, 0 to 1; default 0.5. */
  readonly minConfidence?: number;
  /** Default: the provider's own. */
  readonly decisionPoints?: readonly DecisionPoint[];
  /** Number of turns to pause after guidance, in addition to the rest of the current turn; default 0, no pause. */
  readonly cooldownTurns?: number;
  /** Maximum number of guidance texts per run; default: no limit. */
  readonly maxPerRun?: number;
}
