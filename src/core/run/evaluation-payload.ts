import type { BudgetUsage } from '../base/budget.ts';
import { isJsonObject, type Json, type Mutable } from '../base/json.ts';
import type { DecisionPoint } from '../records/spoken-advice.ts';
import type { Evaluation, StoredPendingCall } from '../records/trajectory-record.ts';
import { toStoredBudget, type SteeringState } from './run-situation.ts';
import type { GuidanceContext } from '../steering/prompt/guidance-provider.ts';
import { promptCalls, callOf } from '../steering/prompt/prompt-calls.ts';
import type { PromptSpeakers } from './run-speakers-by-prompt.ts';
import type { Session } from '../session/session.ts';
import type { TrajectoryAnalysis } from '../detect/patterns/trajectory-analysis.ts';

/** The data that the host has at a decision point. It is recorded for replays. */
export interface AdviseContext {
  /** Calls that are about to run, at `pre_tool_execution`. */
  readonly pendingToolCalls?: readonly {
    readonly toolCallId: string;
    readonly toolName: string;
    readonly args: unknown;
  }[];
  /** Text of the model's last response, for a host that emits no `message_end`. */
  readonly lastResponse?: string;
  readonly renderedPrompt?: string;
  /** Total usage, if the host knows a better value than the sum of the responses. */
  readonly usage?: BudgetUsage;
}

type PendingCall = NonNullable<AdviseContext['pendingToolCalls']>[number];

export function evaluationPayload(
  point: DecisionPoint,
  context: AdviseContext | null,
  { files, shared }: { readonly files: readonly string[]; readonly shared: BudgetUsage | undefined },
): Evaluation {
  const { pendingToolCalls, lastResponse, renderedPrompt, usage } = context ?? {};
  return {
    kind: 'evaluation',
    point,
    ...(Array.isArray(pendingToolCalls) ? { pending_calls: pendingToolCalls.filter(isCall).map(pendingCall) } : {}),
    ...(typeof lastResponse === 'string' ? { last_response: lastResponse } : {}),
    ...(typeof renderedPrompt === 'string' ? { rendered_prompt: renderedPrompt } : {}),
    ...(files.length === 0 ? {} : { files_created: files }),
    ...(isJsonObject(usage) ? { usage: toStoredBudget(usage) } : {}),
    ...(shared === undefined ? {} : { shared_usage: toStoredBudget(shared) }),
  };
}

function isCall(call: PendingCall | null): call is PendingCall {
  return isJsonObject(call);
}

function pendingCall({ toolCallId, toolName, args }: PendingCall): StoredPendingCall {
  // The value is converted to JSON when it is recorded.
  return { tool_call_id: toolCallId, tool_name: toolName, args: args as Json };
}

interface GuidanceContextInput {
  readonly nowMs: number;
  readonly session: Session;
  readonly analysis: TrajectoryAnalysis;
  readonly speakers: PromptSpeakers;
  readonly state: SteeringState;
}

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

export function turnsOf(analysis: TrajectoryAnalysis): number {
  return analysis.turns > 0 ? analysis.turns : analysis.calls;
}
