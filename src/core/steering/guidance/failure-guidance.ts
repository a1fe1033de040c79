import { text, type TextShape } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import type { GuidanceProvider } from '../prompt/guidance-provider.ts';
import { defineGuidance, type GuidanceDefinition } from './define-guidance.ts';
import { errorStreak, recentFailures } from './threshold-classifiers.ts';

/** Options of `diagnosticSignal`. */
export interface DiagnosticSignalOptions {
  /** Minimum number of consecutive failed calls; default 3. */
  readonly errorThreshold?: number;
  /** A tool of the agent that shows the errors; default `view_logs`. */
  readonly logToolName?: string;
}

/** Options of `consultationPrompt`. */
export interface ConsultationPromptOptions {
  /** Minimum failed calls among the last `2 * failureThreshold`, 1 to 128; default 5. */
  readonly failureThreshold?: number;
  /** A tool of the agent that consults another agent; default `request_review`. */
  readonly consultationTool?: string;
}

/**
 * Advises the agent to read its logs after consecutive errors: `Found 3 new console errors. Use the view_logs tool to
 * examine before continuing.`
 *
 * Category `diagnostic`, priority 20, at `pre_tool_selection`, `pre_tool_execution` and `post_tool_result`.
 */
export const diagnosticSignal: ProviderDefinition<DiagnosticSignalOptions, GuidanceProvider> = defineProvider(
  { errorThreshold: errorStreak.options.threshold, logToolName: toolName('view_logs') },
  ({ errorThreshold, logToolName }): GuidanceProvider =>
    afterFailures({
      name: 'diagnostic_signal',
      category: 'diagnostic',
      classifier: errorStreak({ threshold: errorThreshold }),
      key: 'diagnostic.errors',
      priority: 20,
      content: ({ trajectory: { consecutiveErrors: count } }) =>
        `Found ${count} new console error${count === 1 ? '' : 's'}. Use the ${logToolName} tool to examine before continuing.`,
    }),
);

/**
 * Suggests consulting another agent after many failures, which need not be consecutive: `Multiple attempts unsuccessful.
 * Consider using request_review to get fresh perspective from specialized agent.`
 *
 * Category `consultation`, priority 30, at `pre_tool_selection`, `pre_tool_execution` and `post_tool_result`.
 */
export const consultationPrompt: ProviderDefinition<ConsultationPromptOptions, GuidanceProvider> = defineProvider(
  { failureThreshold: recentFailures.options.threshold, consultationTool: toolName('request_review') },
  ({ failureThreshold, consultationTool }): GuidanceProvider =>
    afterFailures({
      name: 'consultation_prompt',
      category: 'consultation',
      classifier: recentFailures({ threshold: failureThreshold }),
      key: 'consultation.fresh-perspective',
      priority: 30,
      content: `Multiple attempts unsuccessful. Consider using ${consultationTool} to get fresh perspective from specialized agent.`,
    }),
);

function afterFailures(definition: GuidanceDefinition): GuidanceProvider {
  return defineGuidance({
    ...definition,
    decisionPoints: ['pre_tool_selection', 'pre_tool_execution', 'post_tool_result'],
  });
}

function toolName(defaultText: string): TextShape {
  return text('the name of a tool: 1 to 128 characters without blanks, backticks or angle brackets', {
    maxChars: 128,
    pattern: () => /^[^\p{C}\s`<>]+$/u,
    default: defaultText,
  });
}
