import type { BudgetUsage } from '../base/budget.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import type { DecisionPoint } from '../records/guidance.ts';
import type { Evaluation, StoredPendingCall } from '../records/trajectory-record.ts';
import { toStoredBudget } from './run-situation.ts';

/** A call about to run, at `pre_tool_execution`. */
interface PendingToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: unknown;
}

/** What the host knows at a decision point. All of it is recorded, so that a replay knows it too. */
export interface AdviseContext {
  /** Calls about to run, at `pre_tool_execution`. */
  readonly pendingToolCalls?: readonly PendingToolCall[];
  /** Text of the model's last answer, where the host has told of no `message_end`. */
  readonly lastResponse?: string;
  /** The prompt as rendered for this turn. */
  readonly renderedPrompt?: string;
  /** What was used so far, where the host knows better than the usage of the answers adds up to. */
  readonly usage?: BudgetUsage;
}

/**
 * The record of a decision point, before the gate: a part of the context that is not what its type says is left out, so that
 * the rest still counts.
 */
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

function isCall(call: PendingToolCall | null): call is PendingToolCall {
  return isJsonObject(call);
}

function pendingCall({ toolCallId, toolName, args }: PendingToolCall): StoredPendingCall {
  // The gate makes JSON of it.
  return { tool_call_id: toolCallId, tool_name: toolName, args: args as Json };
}
