import type { BudgetUsage } from '../base/budget.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import type { DecisionPoint } from '../records/guidance.ts';
import type { Evaluation, StoredPendingCall } from '../records/trajectory-record.ts';
import { toStoredBudget } from './run-situation.ts';

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
  /** The prompt as rendered for this turn. */
  readonly renderedPrompt?: string;
  /** Total usage, if the host knows a better value than the sum of the responses. */
  readonly usage?: BudgetUsage;
}

type PendingCall = NonNullable<AdviseContext['pendingToolCalls']>[number];

/** Creates the record of a decision point, before redaction. Fields of the context with a wrong type are left out. */
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
