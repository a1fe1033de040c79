import { present } from '../base/present.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { hashText } from '../base/hash.ts';
import { deadlineFeedback, type DeadlineFeedbackOptions } from '../steering/feedback/deadline-feedback.ts';
import { driftFeedback } from '../steering/feedback/drift-feedback.ts';
import { errorCascadeFeedback } from '../steering/feedback/error-cascade-feedback.ts';
import { paceFeedback } from '../steering/feedback/pace-feedback.ts';
import { patternFeedback } from '../steering/feedback/pattern-feedback.ts';
import { stallFeedback } from '../steering/feedback/stall-feedback.ts';
import { staticFeedback } from '../steering/feedback/static-feedback.ts';
import { toolUsageMonitor } from '../steering/feedback/tool-usage-monitor.ts';
import { consultationPrompt } from '../steering/guidance/consultation-prompt.ts';
import type { DiagnosticSignalOptions } from '../steering/guidance/diagnostic-signal.ts';
import { defineGuidance } from '../steering/guidance/define-guidance.ts';
import { doomLoopGuidance } from '../steering/guidance/doom-loop-guidance.ts';
import type { FeedbackProvider, FeedbackProviderConfig } from '../steering/prompt/feedback-provider.ts';
import type { FeedbackTrigger } from '../steering/prompt/feedback-trigger.ts';
import type { GuidanceProvider, GuidanceProviderConfig } from '../steering/prompt/guidance-provider.ts';
import {
  knownToolSignal,
  provenParallelReminder,
  STANDARD_LIMITS,
  STANDARD_TRIGGERS,
} from '../steering/standard-steering.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
import { classifierOf } from './classifier-of.ts';
import type { BankEntry, CoxswainConfig, GuidanceLimits, Switch, TriggerConfig } from './coxswain-config.ts';
import { detectorsOf } from './detectors-of.ts';

const CONSULTATION_TOOL = 'request_review';
const LOG_TOOL = 'view_logs';
/** The seeds' own example of a trigger for this provider. */
const USAGE_TRIGGER: FeedbackTrigger = { everyNCalls: 10 };
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

/** What one feedback provider is made of. */
interface FeedbackRecipe<Options> {
  readonly make: (options?: Options) => FeedbackProvider;
  /** It belongs to the standard set. */
  readonly isUsual: boolean;
  /** Default: the provider's own trigger. */
  readonly trigger?: FeedbackTrigger;
}

function feedbackOf({ feedback = {}, standard = true }: CoxswainConfig): readonly FeedbackProviderConfig[] {
  const made = <Options extends object>(
    given: Switch<Options & { readonly trigger?: TriggerConfig }> | undefined,
    { make, isUsual, trigger: usual }: FeedbackRecipe<Options>,
  ): readonly FeedbackProviderConfig[] => {
    if (given === false || (given === undefined && !(isUsual && standard))) return [];
    const options = typeof given === 'object' ? given : undefined;
    const trigger = options?.trigger ?? usual;
    return [{ provider: make(options), ...present({ trigger }) }];
  };
  return [
    ...made<DeadlineFeedbackOptions>(feedback.deadline, {
      // Who says when means it.
      make: (options) =>
        deadlineFeedback({ spacing: isTriggered(feedback.deadline) ? 'trigger' : 'halving', ...options }),
      isUsual: true,
      trigger: STANDARD_TRIGGERS.deadline,
    }),
    ...made(feedback.pattern, { make: patternFeedback, isUsual: true }),
    ...made(feedback.pace, { make: paceFeedback, isUsual: true, trigger: STANDARD_TRIGGERS.pace }),
    ...made(feedback.toolUsageMonitor, { make: toolUsageMonitor, isUsual: false, trigger: USAGE_TRIGGER }),
    ...made(feedback.stall, { make: stallFeedback, isUsual: false }),
    ...made(feedback.errorCascade, { make: errorCascadeFeedback, isUsual: false }),
    ...made(feedback.drift, { make: driftFeedback, isUsual: false }),
    ...(feedback.static ?? []).map(({ trigger, ...said }) => ({ provider: staticFeedback(said), trigger })),
  ];
}

function isTriggered(given: Switch<{ readonly trigger?: TriggerConfig }> | undefined): boolean {
  return typeof given === 'object' && given.trigger !== undefined;
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
