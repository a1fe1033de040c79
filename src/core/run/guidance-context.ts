import type { Mutable } from '../base/mutable.ts';
import type { Evaluation } from '../records/trajectory-record.ts';
import type { GuidanceContext } from '../steering/prompt/guidance-provider.ts';
import { promptCalls } from '../steering/prompt/prompt-calls.ts';
import { callOf } from '../steering/prompt/seen-call.ts';
import type { PromptSpeakers } from './run-speakers-by-prompt.ts';
import type { Session } from '../session/session.ts';
import type { SteeringState } from './run-situation.ts';
import type { TrajectoryAnalysis } from '../detect/patterns/trajectory-analysis.ts';

export interface GuidanceContextInput {
  readonly nowMs: number;
  readonly session: Session;
  readonly analysis: TrajectoryAnalysis;
  readonly speakers: PromptSpeakers;
  readonly state: SteeringState;
}

/** Creates the context of classifiers and guidance providers. */
export function guidanceContextOf(
  input: GuidanceContextInput,
  evaluation: Pick<Evaluation, 'point' | 'pending_calls'>,
): GuidanceContext {
  const { analysis, session, speakers, state } = input;
  const { context: contextSize, lastResponse, renderedPrompt } = state.situation;
  const context: Mutable<GuidanceContext> = {
    session,
    prompt: speakers.prompt,
    trajectory: analysis,
    pendingToolCalls: pendingCallsOf(evaluation),
    turnCount: turnsOf(analysis),
    toolCallCount: analysis.calls,
    recentCalls: (count) => promptCalls(session, speakers.prompt.name, count).map(callOf),
    nowMs: input.nowMs,
    decisionPoint: evaluation.point,
  };
  // The field is assigned, because spreading would cost more than the rest of the context.
  if (renderedPrompt !== null) context.renderedPrompt = { text: renderedPrompt, sections: [] };
  if (contextSize !== undefined) context.context = contextSize;
  if (lastResponse !== null) context.lastResponse = lastResponse;
  return context;
}

const NONE: GuidanceContext['pendingToolCalls'] = [];

function pendingCallsOf({
  pending_calls: calls,
}: Pick<Evaluation, 'pending_calls'>): GuidanceContext['pendingToolCalls'] {
  if (calls === undefined || calls.length === 0) return NONE;
  return calls.map((call) => ({ toolCallId: call.tool_call_id, toolName: call.tool_name, args: call.args }));
}

/** Returns the number of turns. If the host reports no turns, returns the number of calls. */
export function turnsOf(analysis: TrajectoryAnalysis): number {
  return analysis.turns > 0 ? analysis.turns : analysis.calls;
}
