import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { textOfContent } from '../../core/records/agent-message.ts';
import { taskIn } from '../../formats/claude-code/claude-code-entry.ts';
import { withEndedAgent, type SessionAgents } from './session-agents.ts';

/** Plain JSON computed from the records, so any process can rebuild it. The run itself is not part of it. */
export type ClaudeState = {
  /** True if the next call belongs to the current turn. */
  readonly turnOpen: boolean;
  /** Open calls as pairs of call id and tool name. */
  readonly openCalls: readonly (readonly [string, string])[];
  /** Ids of the calls that ended last. Used to ignore a second report of the same call. */
  readonly closedCalls: readonly string[];
  readonly endedInTurn?: boolean;
  readonly hasBatches?: boolean;
  /** True if a deadline was set after the session started or was resumed. */
  readonly deadlineSet: boolean;
  /** Unix milliseconds; null without a deadline. */
  readonly deadlineAtMs: number | null;
  /** Time of the last record with tokens, or of the start of the run. Unix milliseconds. */
  readonly usedAtMs: number;
  readonly lastUsageAtMs?: number;
  readonly unmet: number;
  /** True if the completion check has given up since the last prompt. */
  readonly gaveUp: boolean;
  /** True if a call was refused since the last prompt. Absent means false. */
  readonly refusalStands?: boolean;
  /** True if advice has already forced a turn at a stop. */
  readonly forcedTurn: boolean;
  readonly modelId: string | null;
  /** True if a hook answer made the agent continue and no event has arrived since. Absent means false. */
  readonly isForcing?: boolean;
  /** True if the last word of the agent was an answer, and nothing followed it. Absent means false. */
  readonly hasAnswered?: boolean;
  readonly hasUnheardCall?: boolean;
  /** Ids of the most recent events that were recorded late. Absent before the first one. */
  readonly lateInputIds?: readonly string[];
  readonly agents?: SessionAgents;
};

export const NEW_CLAUDE_STATE: ClaudeState = {
  turnOpen: false,
  openCalls: [],
  closedCalls: [],
  deadlineSet: false,
  deadlineAtMs: null,
  usedAtMs: 0,
  unmet: 0,
  gaveUp: false,
  forcedTurn: false,
  modelId: null,
};

const MAX_CALLS = 256;

/** Maximum number of remembered late event ids. An id is needed only until the spill file of its event is deleted. */
const MAX_LATE_INPUTS = 256;

/** Channels of advice that force the agent to continue. */
const STOP_CHANNELS: ReadonlySet<string | undefined> = new Set([
  'Stop additionalContext',
  'SubagentStop additionalContext',
  'AfterAgent additionalContext',
]);

export function foldClaudeState(before: ClaudeState, record: TrajectoryRecord): ClaudeState {
  const { payload, late_input_id: lateInputId } = record;
  const state = lateInputId === undefined ? before : withLateInput(before, lateInputId);
  switch (payload.kind) {
    case 'run_started':
      return {
        ...state,
        deadlineAtMs: payload.steering?.deadline_at_unix_ms ?? null,
        usedAtMs: record.recorded_at_unix_ms,
      };
    case 'deadline_set':
      return { ...state, deadlineSet: true, deadlineAtMs: payload.deadline_at_unix_ms ?? null };
    case 'run_resumed':
      return { ...closedState(state), deadlineSet: false, unmet: 0, gaveUp: false };
    case 'run_ended':
      return closedState(state);
    case 'turn_started':
      return { ...state, turnOpen: true, endedInTurn: false, isForcing: false, hasAnswered: false };
    case 'child_ended':
      return withEndedAgent(state, payload.child_run_id, payload.usage.calls ?? 0);
    case 'tool_started':
      return {
        ...state,
        hasAnswered: false,
        openCalls: [...state.openCalls, [payload.tool_call_id, payload.tool_name] as const].slice(-MAX_CALLS),
      };
    case 'tool_ended': {
      const { tool_call_id: id } = payload;
      const openCalls = state.openCalls.filter(([open]) => open !== id);
      return {
        ...state,
        openCalls,
        closedCalls: [...state.closedCalls, id].slice(-MAX_CALLS),
        endedInTurn: true,
        hasUnheardCall: true,
        ...(payload.outcome === 'refused' ? { refusalStands: true } : {}),
      };
    }
    case 'evaluation':
      if (payload.point === 'post_tool_result') return { ...state, hasUnheardCall: false };
      if (payload.point === 'pre_tool_execution') return state;
      return {
        ...state,
        turnOpen: false,
        ...(payload.point === 'pre_tool_selection' && state.turnOpen ? { hasBatches: true } : {}),
      };
    case 'message_appended': {
      const { message } = payload;
      const next = foldMessage(state, message.role, textOfContent(message.content));
      const hasUsage = message.role === 'assistant' && message.usage !== undefined;
      const { recorded_at_unix_ms: atMs } = record;
      return hasUsage ? { ...next, usedAtMs: atMs, lastUsageAtMs: atMs } : next;
    }
    case 'completion_checked':
      return {
        ...state,
        unmet: payload.met ? 0 : payload.attempt,
        gaveUp: payload.gave_up === true,
        isForcing: !payload.met && payload.gave_up !== true,
      };
    case 'feedback_delivered':
      return withDelivery(state, payload.delivered, payload.channel);
    case 'guidance_delivered':
      return withDelivery(state, payload.guidance.delivered, payload.guidance.channel);
    default:
      return state;
  }
}

function foldMessage(state: ClaudeState, role: string, text: string): ClaudeState {
  // An answer precedes its calls.
  if (role === 'assistant') return { ...state, isForcing: false, hasAnswered: text.trim() !== '' };
  const endedState = {
    ...state,
    turnOpen: false,
    isForcing: false,
    ...(role === 'user' ? { hasAnswered: false } : {}),
  };
  // The host sends some messages with the user's role, for example about a finished background task. They are not new requests.
  return role === 'user' && taskIn([text]) !== undefined
    ? { ...endedState, unmet: 0, gaveUp: false, refusalStands: false }
    : endedState;
}

function withDelivery(state: ClaudeState, arrived: boolean, channel: string | undefined): ClaudeState {
  return arrived && STOP_CHANNELS.has(channel) ? { ...state, forcedTurn: true, isForcing: true } : state;
}

function withLateInput(state: ClaudeState, id: string): ClaudeState {
  const { lateInputIds = [] } = state;
  if (lateInputIds.includes(id)) return state;
  return { ...state, lateInputIds: [...lateInputIds, id].slice(-MAX_LATE_INPUTS) };
}

function closedState(state: ClaudeState): ClaudeState {
  return { ...state, turnOpen: false, openCalls: [], endedInTurn: false };
}
