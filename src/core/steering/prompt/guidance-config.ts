import { DECISION_POINTS, type DecisionPoint } from '../../records/guidance.ts';
import type { GuidanceProvider, GuidanceProviderConfig } from './guidance-provider.ts';
import { GUIDANCE_DEFAULTS } from './steering-defaults.ts';
import { checkShare, checkWhole, invalidDefinition } from './check-options.ts';

/** A configuration after defaults are filled in. */
export interface ResolvedGuidanceConfig {
  readonly provider: GuidanceProvider;
  readonly maxPerTurn: number;
  readonly minConfidence: number;
  readonly decisionPoints: readonly DecisionPoint[];
  readonly cooldownTurns: number;
  /** `Infinity` if there is no limit. */
  readonly maxPerRun: number;
}

const MAX_NAME_CHARS = 64;

// Configurations do not change. They are therefore checked once instead of at every decision point.
const resolvedConfigs = new WeakMap<GuidanceProviderConfig, ResolvedGuidanceConfig>();

/**
 * Fills in defaults. Cost: O(1) after the first time.
 *
 * @throws CoxswainError "invalid-definition" if a number is out of range, a decision point is unknown, or the provider
 *   lacks a name, a category, `classify` or `provide`
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

/**
 * Checks the configurations of a run or prompt.
 *
 * @throws CoxswainError "invalid-definition" as `resolveGuidanceConfig`, and if two share a name
 */
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
