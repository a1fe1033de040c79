import type { GuidanceProvider } from '../prompt/guidance-provider.ts';
import { checkToolName } from './check-options.ts';
import { defineGuidance } from './define-guidance.ts';
import { errorStreak } from './error-streak.ts';

/** Options of `diagnosticSignal`. */
export interface DiagnosticSignalOptions {
  /** Failed calls in a row from which it speaks; default 3. */
  readonly errorThreshold?: number;
  /** The tool that shows the errors; default `view_logs`. */
  readonly logToolName?: string;
}

/**
 * Sends the agent to its logs after errors in a row:
 * `Found 3 new console errors. Use the view_logs tool to examine before continuing.`
 *
 * Category `diagnostic`, priority 20, at `pre_tool_selection`, `pre_tool_execution` and `post_tool_result`.
 *
 * @throws CoxswainError "invalid-definition" when an option is outside its range
 */
export function diagnosticSignal(options: DiagnosticSignalOptions = {}): GuidanceProvider {
  const { errorThreshold = 3, logToolName = 'view_logs' } = options;
  checkToolName('logToolName', logToolName);
  return defineGuidance({
    name: 'diagnostic_signal',
    category: 'diagnostic',
    decisionPoints: ['pre_tool_selection', 'pre_tool_execution', 'post_tool_result'],
    classifier: errorStreak({ threshold: errorThreshold }),
    key: 'diagnostic.errors',
    priority: 20,
    content: ({ trajectory }) => errorsSentence(trajectory.consecutiveErrors, logToolName),
  });
}

/** What `diagnosticSignal` says of so many errors. */
export function errorsSentence(count: number, logToolName: string): string {
  const errors = count === 1 ? '1 new console error' : `${count} new console errors`;
  return `Found ${errors}. Use the ${logToolName} tool to examine before continuing.`;
}
