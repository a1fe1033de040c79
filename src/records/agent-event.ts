import type { JsonObject } from '../base/json.ts';
import type { AgentMessage } from './agent-message.ts';
import type { ToolStarted } from './trajectory-record.ts';

/** Who a run is, in memory. */
export interface AgentIdentity {
  readonly runId: string;
  readonly parentRunId?: string;
  /** 0 for a root run. */
  readonly depth: number;
  readonly conversationId?: string;
  readonly agentName?: string;
  readonly modelId?: string;
}

/** What every event may carry. */
interface EventTime {
  /** Unix milliseconds, where the host knows better than the clock when it happened. One that cannot be meant is not used. */
  readonly atMs?: number;
}

/**
 * What a host tells of its agent, as it happens. Discriminated on `type`. `args` and `result` may be any value:
 * docs/recording.md says what becomes of one that JSON cannot say, or that is too large.
 *
 * The three `*_update` and `message_start` events are streaming deltas: they are for a user interface and are
 * never recorded.
 */
export type AgentEvent = EventTime &
  (
    | { readonly type: 'agent_start' }
    | { readonly type: 'run_identified'; readonly identity: AgentIdentity }
    | {
        readonly type: 'agent_end';
        readonly messages?: readonly AgentMessage[];
        /** `ended` by default; `aborted`, `error`, `limit`, or the host's own word. */
        readonly outcome?: string;
        /** Why: an `EndReason`, or the host's own word. */
        readonly reason?: string;
        readonly success?: boolean;
        readonly reward?: number;
        readonly labels?: JsonObject;
      }
    /** The host goes on with a run that had ended, such as a session that is opened again. */
    | { readonly type: 'run_resumed'; readonly trigger: string }
    /** The agent wanted to stop, and what must hold by then was looked at. */
    | {
        readonly type: 'completion_checked';
        readonly met: boolean;
        /** What does not hold, one line each. */
        readonly missing: readonly string[];
        /** 1 for the first time the agent wanted to stop. */
        readonly attempt: number;
        /** It did not hold, and the agent was let go all the same. */
        readonly gaveUp?: boolean;
      }
    | { readonly type: 'turn_start' }
    | { readonly type: 'turn_end'; readonly message: AgentMessage; readonly toolResults: readonly AgentMessage[] }
    | { readonly type: 'message_start'; readonly message: AgentMessage }
    | { readonly type: 'message_update'; readonly delta: string }
    | { readonly type: 'message_end'; readonly message: AgentMessage }
    | {
        readonly type: 'tool_execution_start';
        readonly toolCallId: string;
        readonly toolName: string;
        readonly args: unknown;
        /** What the tool's MCP server says of it; absent: nothing is known. */
        readonly annotations?: NonNullable<ToolStarted['annotations']>;
      }
    | {
        readonly type: 'tool_execution_update';
        readonly toolCallId: string;
        readonly toolName: string;
        readonly partial: unknown;
      }
    | {
        readonly type: 'tool_execution_end';
        readonly toolCallId: string;
        readonly toolName: string;
        readonly result: unknown;
        readonly isError: boolean;
        readonly durationMs?: number;
        /** Nobody will ever tell the result, as when the call was interrupted; `result` says why. */
        readonly resultMissing?: boolean;
      }
    | {
        readonly type: 'provider_request_prepared';
        readonly iteration: number;
        readonly modelId?: string;
        readonly systemPrompt: string;
        readonly messages: readonly unknown[];
        readonly tools: readonly { readonly name: string }[];
      }
    | {
        readonly type: 'context_transform_applied';
        readonly iteration: number;
        readonly plugin: string;
        readonly before: readonly unknown[];
        readonly after: readonly unknown[];
      }
    | {
        readonly type: 'tool_gate_applied';
        readonly iteration: number;
        readonly plugin: string;
        readonly allow?: readonly string[];
      }
    | {
        readonly type: 'tool_gate_conflict_resolved';
        readonly iteration: number;
        readonly plugins: readonly string[];
        readonly chosenPlugin?: string;
        readonly allow: readonly string[];
        readonly reason: string;
      }
    | {
        readonly type: 'output_tokens_escalation';
        readonly attempt: number;
        readonly previousCap: number;
        readonly newCap: number;
      }
    | { readonly type: 'compaction'; readonly trigger: string }
    /** What an adapter met and has no name for; kept, so that nothing is lost. */
    | { readonly type: 'unrecognised'; readonly original: JsonObject }
  );

/** What a host knows of how a run went, when it ends it. */
export type AgentEnding = Omit<Extract<AgentEvent, { readonly type: 'agent_end' }>, 'type' | 'messages' | 'atMs'>;
