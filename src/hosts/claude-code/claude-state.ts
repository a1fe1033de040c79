import { passOver } from '../../records/pass-over.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { textOfContent } from '../../records/stored-message.ts';
import { isTaskText } from '../../formats/claude-code/claude-code-entry.ts';
import { withEndedAgent, type SessionAgents } from './session-agents.ts';

/**
 * The state of a session or subagent between two hook calls, besides the run. Plain JSON, derived from the records, so that
 * every process can rebuild it.
 */
export type ClaudeState = {
  /** The next call belongs to the current turn. */
  readonly turnOpen: boolean;
  /** Open calls: id and tool. */
  readonly openCalls: readonly (readonly [string, string])[];
  /** Ids of this turn's ended calls, to ignore a second report. */
  readonly closedCalls: readonly string[];
  /** The most recently ended call of any turn; absent before the first. */
  readonly lastClosedCall?: string;
  /** A deadline was set since the session began or was resumed. */
  readonly deadlineSet: boolean;
  /** Unix milliseconds; null without a deadline. */
  readonly deadlineAtMs: number | null;
  /** Failed completion checks since the last prompt. */
  readonly unmet: number;
  /** The completion check gave up since the last prompt. */
  readonly gaveUp: boolean;
  /** Advice has forced a turn at the end. */
  readonly forcedTurn: boolean;
  /** The model, if the session has begun before the run; null if unknown. */
  readonly modelId: string | null;
  /** An answer has made the agent go on, and nothing has happened since. Absent: false. */
  readonly isForcing?: boolean;
  /** A call has ended since the last evaluation of results. Absent: false. */
  readonly hasUnheardCall?: boolean;
  /** Ids of the latest events that were folded late; absent before the first. */
  readonly lateInputIds?: readonly string[];
  /** Subagents. Their start is noted here and is not in the records. Absent: none. */
  readonly agents?: SessionAgents;
};

/** The state of a new session. */
export const NEW_CLAUDE_STATE: ClaudeState = {
  turnOpen: false,
  openCalls: [],
  closedCalls: [],
  deadlineSet: false,
  deadlineAtMs: null,
  unmet: 0,
  gaveUp: false,
  forcedTurn: false,
  modelId: null,
};

/** Limit of calls per turn, and of open calls. */
const MAX_CALLS = 256;

/** Limit of late event ids; one is needed only until its spill file is deleted, right after the fold. */
const MAX_LATE_INPUTS = 256;

/** The channels of advice that forces a turn. */
const STOP_CHANNELS: ReadonlySet<string | undefined> = new Set([
  'Stop additionalContext',
  'SubagentStop additionalContext',
  'AfterAgent additionalContext',
]);

/** The state after a record. Pure. */
export function foldClaudeState(before: ClaudeState, record: TrajectoryRecord): ClaudeState {
  const { payload, late_input_id: lateInputId } = record;
  const state = lateInputId === undefined ? before : withLateInput(before, lateInputId);
  switch (payload.kind) {
    case 'run_started':
      return { ...state, deadlineAtMs: payload.steering?.deadline_at_unix_ms ?? null };
    case 'deadline_set':
      return { ...state, deadlineSet: true, deadlineAtMs: payload.deadline_at_unix_ms ?? null };
    case 'run_resumed':
      return { ...closed(state), deadlineSet: false, unmet: 0, gaveUp: false };
    case 'run_ended':
      return closed(state);
    case 'turn_started':
      return { ...state, turnOpen: true, closedCalls: [], isForcing: false };
    case 'child_ended':
      return withEndedAgent(state, payload.child_run_id, payload.usage.calls ?? 0);
    case 'tool_started':
      return {
        ...state,
        openCalls: [...state.openCalls, [payload.tool_call_id, payload.tool_name] as const].slice(-MAX_CALLS),
      };
    case 'tool_ended': {
      const { tool_call_id: id } = payload;
      const openCalls = state.openCalls.filter(([open]) => open !== id);
      return {
        ...state,
        openCalls,
        closedCalls: [...state.closedCalls, id].slice(-MAX_CALLS),
        lastClosedCall: id,
        hasUnheardCall: true,
      };
    }
    case 'evaluation':
      if (payload.point === 'post_tool_result') return { ...state, hasUnheardCall: false };
      return payload.point === 'pre_tool_selection' ? { ...state, turnOpen: false } : state;
    case 'message_appended':
      return foldMessage(state, payload.message.role, textOfContent(payload.message.content));
    case 'completion_checked':
      return {
        ...state,
        unmet: payload.met ? 0 : payload.attempt,
        gaveUp: payload.gave_up === true,
        isForcing: !payload.met && payload.gave_up !== true,
      };
    case 'feedback_delivered':
      return delivered(state, payload.delivered, payload.channel);
    case 'guidance_delivered':
      return delivered(state, payload.guidance.delivered, payload.guidance.channel);
    default:
      passOver<'talk' | 'requests' | 'host' | 'patterns' | 'produced' | 'asked' | 'faults' | 'unread'>(payload);
      return state;
  }
}

function foldMessage(state: ClaudeState, role: string, text: string): ClaudeState {
  const over = { ...state, turnOpen: false, isForcing: false };
  // A message of the host in the user's place, such as a finished background task, is not a new request.
  return role === 'user' && isTaskText(text) ? { ...over, unmet: 0, gaveUp: false } : over;
}

function delivered(state: ClaudeState, arrived: boolean, channel: string | undefined): ClaudeState {
  return arrived && STOP_CHANNELS.has(channel) ? { ...state, forcedTurn: true, isForcing: true } : state;
}

function withLateInput(state: ClaudeState, id: string): ClaudeState {
  const { lateInputIds = [] } = state;
  if (lateInputIds.includes(id)) return state;
  return { ...state, lateInputIds: [...lateInputIds, id].slice(-MAX_LATE_INPUTS) };
}

function closed(state: ClaudeState): ClaudeState {
  return { ...state, turnOpen: false, openCalls: [], closedCalls: [] };
}
