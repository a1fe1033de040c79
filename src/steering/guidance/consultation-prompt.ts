import type { GuidanceProvider } from '../prompt/guidance-provider.ts';
import { checkToolName } from './check-options.ts';
import { defineGuidance } from './define-guidance.ts';
import { recentFailures } from './recent-failures.ts';

/** Options of `consultationPrompt`. */
export interface ConsultationPromptOptions {
  /** Failed calls among the last `2 * failureThreshold` from which it speaks, 1 to 128; default 5. */
  readonly failureThreshold?: number;
  /** The tool that asks somebody else; default `request_review`. Declare this provider only where it exists. */
  readonly consultationTool?: string;
}

/**
 * Suggests to ask somebody else after many failures, in a row or not:
 * `Multiple attempts unsuccessful. Consider using request_review to get fresh perspective from specialized agent.`
 *
 * Category `consultation`, priority 30, at `pre_tool_selection`, `pre_tool_execution` and `post_tool_result`.
 *
 * @throws CoxswainError "invalid-definition" when an option is outside its range
 */
export function consultationPrompt(options: ConsultationPromptOptions = {}): GuidanceProvider {
  const { failureThreshold = 5, consultationTool = 'request_review' } = options;
  checkToolName('consultationTool', consultationTool);
  return defineGuidance({
    name: 'consultation_prompt',
    category: 'consultation',
    decisionPoints: ['pre_tool_selection', 'pre_tool_execution', 'post_tool_result'],
    classifier: recentFailures({ threshold: failureThreshold }),
    key: 'consultation.fresh-perspective',
    priority: 30,
    content: `Multiple attempts unsuccessful. Consider using ${consultationTool} to get fresh perspective from specialized agent.`,
  });
}
