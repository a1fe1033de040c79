import { slotText } from './advice/slot-text.ts';
import { deadlineFeedback } from './feedback/deadline-feedback.ts';
import { paceFeedback } from './feedback/pace-feedback.ts';
import { patternFeedback } from './feedback/pattern-feedback.ts';
import { checkToolName } from './guidance/check-options.ts';
import { consultationPrompt } from './guidance/consultation-prompt.ts';
import { diagnosticSignal, errorsSentence, type DiagnosticSignalOptions } from './guidance/diagnostic-signal.ts';
import { doomLoopGuidance } from './guidance/doom-loop-guidance.ts';
import { parallelToolReminder, type ParallelToolReminderOptions } from './guidance/parallel-tool-reminder.ts';
import type { FeedbackTrigger } from './prompt/feedback-trigger.ts';
import type { GuidanceProvider, GuidanceProviderConfig } from './prompt/guidance-provider.ts';
import type { SteeringOptions } from './steering-options.ts';

const MAX_TOOL_CHARS = 64;
const LOOK_BACK = 32;

/** When the feedback of the standard set is asked, where that is not the provider's own trigger. */
export const STANDARD_TRIGGERS: { readonly deadline: FeedbackTrigger; readonly pace: FeedbackTrigger } = {
  deadline: { everyNSeconds: 30 },
  pace: { everyNCalls: 10 },
};

/** How often each guidance provider of the standard set may speak. */
export const STANDARD_LIMITS: Readonly<
  Record<
    'diagnosticSignal' | 'doomLoop' | 'consultationPrompt' | 'parallelToolReminder',
    Omit<GuidanceProviderConfig, 'provider'>
  >
> = {
  diagnosticSignal: { maxPerTurn: 1 },
  doomLoop: { maxPerTurn: 1, minConfidence: 0.7 },
  consultationPrompt: { maxPerTurn: 1, cooldownTurns: 5 },
  parallelToolReminder: { maxPerTurn: 1, cooldownTurns: 10, maxPerRun: 3 },
};

/** What of the standard set depends on the host's tools. */
export interface StandardSteeringOptions {
  /** Names of the tools the agent has; advice that names a tool is given only when it is among them. Default: none. */
  readonly tools?: readonly string[];
  /** The tool for looking at errors; default `view_logs` where it is among `tools`, else the last tool that looked at or ran something. */
  readonly logTool?: string;
  /** The tool for asking another agent; default `request_review`. */
  readonly consultationTool?: string;
}

/**
 * The steering we would run ourselves, and the default: the deadline each time half of what was left is gone, stuck patterns at `warn` and again
 * at `strong`, the pace when a limit is known, the diagnostic signal at three errors, the doom loop, and the parallel reminder last. The
 * diagnostic signal names a tool that the agent has; the consultation speaks only when its tool exists.
 *
 * Everyone whose trigger fires speaks, each at a cadence of its own (`all`, `per-provider`): with the seeds' shared
 * cadence a provider that speaks often would starve the others. `docs/standard-steering.md` has the whole as a table.
 */
export function standardSteering(options: StandardSteeringOptions = {}): SteeringOptions {
  const { tools = [], consultationTool = 'request_review' } = options;
  const logTool = options.logTool ?? (tools.includes('view_logs') ? 'view_logs' : undefined);
  return {
    delivery: 'all',
    cadence: 'per-provider',
    feedback: [
      { provider: deadlineFeedback({ spacing: 'halving' }), trigger: STANDARD_TRIGGERS.deadline },
      { provider: patternFeedback() },
      { provider: paceFeedback(), trigger: STANDARD_TRIGGERS.pace },
    ],
    guidance: [
      {
        ...STANDARD_LIMITS.diagnosticSignal,
        provider: knownToolSignal(logTool === undefined ? {} : { logToolName: logTool }),
      },
      { ...STANDARD_LIMITS.doomLoop, provider: doomLoopGuidance() },
      ...(tools.includes(consultationTool)
        ? [{ ...STANDARD_LIMITS.consultationPrompt, provider: consultationPrompt({ consultationTool }) }]
        : []),
      { ...STANDARD_LIMITS.parallelToolReminder, provider: provenParallelReminder() },
    ],
  };
}

/**
 * `diagnosticSignal` with a tool that exists: advice to use one that does not would be followed, and fail. Without
 * `logToolName` it names, of the tools the agent has used, the last one that looks at or runs something; without one it
 * stays silent.
 *
 * @throws CoxswainError "invalid-definition" when an option is outside its range
 */
export function knownToolSignal(options: DiagnosticSignalOptions = {}): GuidanceProvider {
  const signal = diagnosticSignal(options);
  if (options.logToolName !== undefined) return signal;
  return {
    ...signal,
    provide: (context) => {
      const looked = context.trajectory
        .recentCalls(LOOK_BACK)
        .findLast(({ kind }) => kind === 'read' || kind === 'execute');
      if (looked === undefined) return undefined;
      const tool = slotText(looked.tool, MAX_TOOL_CHARS);
      checkToolName('logToolName', tool);
      const draft = signal.provide(context);
      if (draft === undefined) return undefined;
      return { ...draft, content: errorsSentence(context.trajectory.consecutiveErrors, tool) };
    },
  };
}

/**
 * `parallelToolReminder` for an agent that has issued calls together, among its last 224. Another one may not be able to,
 * and would hear something impossible whenever it looks at several things: in recorded runs of agents that issue one call a
 * turn the reminder spoke in 26 % of those that went well (docs/backtest.md has such a corpus).
 *
 * @throws CoxswainError "invalid-definition" when the option is outside its range
 */
export function provenParallelReminder(options: ParallelToolReminderOptions = {}): GuidanceProvider {
  const reminder = parallelToolReminder(options);
  return {
    ...reminder,
    classify: (context) => {
      const said = reminder.classify(context);
      return said.relevant && !hasIssuedTogether(context.trajectory.recentCalls())
        ? { ...said, relevant: false }
        : said;
    },
  };
}

function hasIssuedTogether(calls: readonly { readonly turn: number }[]): boolean {
  return calls.some(({ turn }, index) => calls[index + 1]?.turn === turn);
}
