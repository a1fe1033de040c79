import { present } from '../base/present.ts';
import type { DecisionPoint } from '../records/guidance.ts';
import { sessionTrajectory } from '../detect/detectors/session-trajectory.ts';
import type { Session } from '../session/session.ts';
import { ToolInvoked } from '../session/tool-invoked.ts';
import { sessionNowMs } from './feedback/session-time.ts';
import { definePrompt } from './prompt/define-prompt.ts';
import type { GuidanceContext } from './prompt/guidance-provider.ts';
import { promptCalls } from './prompt/prompt-calls.ts';
import { callOf } from './prompt/seen-call.ts';

export interface GuidanceContextOptions extends Partial<
  Pick<GuidanceContext, 'pendingToolCalls' | 'lastResponse' | 'renderedPrompt' | 'trajectory' | 'turnCount'>
> {
  /** Default: a prompt named `session/default`, without providers. */
  readonly prompt?: GuidanceContext['prompt'];
  /** Default `pre_tool_selection`. */
  readonly decisionPoint?: DecisionPoint;
  /** Unix milliseconds; default: the session's time. */
  readonly nowMs?: number;
}

const NO_PROMPT = definePrompt({ ns: 'session', key: 'default' });

/**
 * Creates the context for `collectGuidance` and `evaluateGuidance` from a session without a run. Dispatch the calls first,
 * because the trajectory is computed from them.
 *
 * @throws CoxswainError "invalid-argument" inside a dispatch without `nowMs` Cost: as `sessionTrajectory`.
 */
export function createGuidanceContext(session: Session, options: GuidanceContextOptions = {}): GuidanceContext {
  const { prompt = NO_PROMPT, trajectory = sessionTrajectory(session), lastResponse, renderedPrompt } = options;
  return {
    session,
    prompt,
    trajectory,
    pendingToolCalls: options.pendingToolCalls ?? [],
    turnCount: options.turnCount ?? trajectory.turns,
    toolCallCount: session.slice(ToolInvoked).total(),
    recentCalls: (count) => promptCalls(session, prompt.name, count).map(callOf),
    nowMs: options.nowMs ?? sessionNowMs(session),
    decisionPoint: options.decisionPoint ?? 'pre_tool_selection',
    ...present({ lastResponse, renderedPrompt }),
  };
}
