import { present } from '../base/present.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { hashText } from '../base/hash.ts';
import { staticFeedback } from '../steering/feedback/static-feedback.ts';
import { consultationPrompt } from '../steering/guidance/consultation-prompt.ts';
import type { DiagnosticSignalOptions } from '../steering/guidance/diagnostic-signal.ts';
import { defineGuidance } from '../steering/guidance/define-guidance.ts';
import { doomLoopGuidance } from '../steering/guidance/doom-loop-guidance.ts';
import type { FeedbackProviderConfig } from '../steering/prompt/feedback-provider.ts';
import type { GuidanceProvider, GuidanceProviderConfig } from '../steering/prompt/guidance-provider.ts';
import { knownToolSignal, provenParallelReminder, STANDARD_LIMITS } from '../steering/standard-steering.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
import { classifierOf } from './classifier-of.ts';
import type { BankEntry, CoxswainConfig, GuidanceLimits, Switch, TriggerConfig } from './coxswain-config.ts';
import { detectorsOf } from './detectors-of.ts';
import { FEEDBACK, type AnyFeedback } from './feedback-providers.ts';

const CONSULTATION_TOOL = 'request_review';
const LOG_TOOL = 'view_logs';
const BANK_CATEGORY = 'project';

/**
 * The steering that a configuration describes: `standardSteering()` with what it changes. An empty configuration is
 * the standard steering itself, down to its hash.
 *
 * @param config as `decodeConfig` gives it; such a one never makes this throw
 */
export function steeringOf(config: CoxswainConfig): SteeringOptions {
  const { mode, holdout, noise, maxGuidancePerTurn, providerTimeLimitMs, tools } = config;
  const madeFrom = madeFromOf(config);
  return {
    feedback: feedbackOf(config),
    guidance: guidanceOf(config),
    delivery: config.delivery ?? 'all',
    cadence: config.cadence ?? 'per-provider',
    detectors: detectorsOf(config.detectors ?? {}),
    ...present({ mode, holdout, noise, maxGuidancePerTurn, providerTimeLimitMs, tools, madeFrom }),
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
    const provider = make(name === 'deadline' ? { spacing, ...options } : options);
    return [{ provider, ...present({ trigger }) }];
  });
  const own = (feedback.static ?? []).map(({ trigger, ...said }) => ({ provider: staticFeedback(said), trigger }));
  return [...named, ...own];
}

/** What one guidance provider is made of. */
interface GuidanceRecipe<Options> {
  readonly make: (options?: Options) => GuidanceProvider;
  /** It belongs to the standard set. */
  readonly isUsual: boolean;
  readonly limits: GuidanceLimits;
}

function guidanceOf({ guidance = {}, standard = true, tools = {} }: CoxswainConfig): readonly GuidanceProviderConfig[] {
  const made = <Options extends object>(
    given: Switch<Options & GuidanceLimits> | undefined,
    { make, isUsual, limits }: GuidanceRecipe<Options>,
  ): readonly GuidanceProviderConfig[] => {
    if (given === false || (given === undefined && !(isUsual && standard))) return [];
    return typeof given === 'object'
      ? [{ ...limits, ...limitsIn(given), provider: make(given) }]
      : [{ ...limits, provider: make() }];
  };
  const logTool = Object.hasOwn(tools, LOG_TOOL) ? { logToolName: LOG_TOOL } : {};
  const signal = (options?: DiagnosticSignalOptions): GuidanceProvider => knownToolSignal({ ...logTool, ...options });
  const canConsult = Object.hasOwn(tools, CONSULTATION_TOOL);
  const { diagnosticSignal, consultationPrompt: consultation, ...limits } = STANDARD_LIMITS;
  return [
    ...made(guidance.diagnosticSignal, { make: signal, isUsual: true, limits: diagnosticSignal }),
    ...made(guidance.doomLoop, { make: doomLoopGuidance, isUsual: true, limits: limits.doomLoop }),
    ...made(guidance.consultationPrompt, { make: consultationPrompt, isUsual: canConsult, limits: consultation }),
    ...made(guidance.parallelToolReminder, {
      make: provenParallelReminder,
      isUsual: true,
      limits: limits.parallelToolReminder,
    }),
    ...(guidance.bank ?? []).map(bankGuidance),
  ];
}

/** A provider of one piece of guidance. Its limits keep it quieter than those that follow a measured pattern. */
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
  return { maxPerTurn: 1, cooldownTurns: 5, ...limitsIn(entry), provider };
}

function limitsIn(given: GuidanceLimits): GuidanceLimits {
  const { maxPerTurn, minConfidence, decisionPoints, cooldownTurns, maxPerRun } = given;
  return {
    ...present({ maxPerTurn, minConfidence, decisionPoints, cooldownTurns, maxPerRun }),
  };
}
