import type { JsonObject } from '../base/json.ts';
import type { AgentMessage } from './agent-message.ts';
import type { ToolStarted } from './trajectory-record.ts';

export interface AgentIdentity {
  readonly runId: string;
  readonly parentRunId?: string;
  /** 0 for a root run. */
  readonly depth: number;
  readonly conversationId?: string;
  readonly agentName?: string;
  readonly modelId?: string;
}

export interface EventTime {
  /** Unix milliseconds; default: the clock. An implausible time is ignored. */
  readonly atMs?: number;
}

/**
 * An event of an agent, reported by its host. Discriminated on `type`. `args` and `result` may be any value: docs/recording.md
 * describes how values that are not JSON, or too large, are stored.
 *
 * The `*_update` and `message_start` events are streaming deltas for user interfaces and never recorded.
 */
export type AgentEvent = EventTime &
  (
    | { readonly type: 'agent_start' }
    | { readonly type: 'run_identified'; readonly identity: AgentIdentity }
    | {
        readonly type: 'agent_end';
        readonly messages?: readonly AgentMessage[];
        /** `aborted`, `error`, `limit`, or a word of the host; default `ended`. */
        readonly outcome?: string;
        /** An `EndReason`, or a word of the host. */
        readonly reason?: string;
        readonly success?: boolean;
        readonly reward?: number;
        readonly labels?: JsonObject;
      }
    /** The host resumes a run that has ended, such as a reopened session. */
    | { readonly type: 'run_resumed'; readonly trigger: string }
    /** The agent wanted to stop, and the conditions were checked. */
    | {
        readonly type: 'completion_checked';
        readonly met: boolean;
        /** Unmet conditions, one line each. */
        readonly missing: readonly string[];
        /** From 1. */
        readonly attempt: number;
        /** Unmet, but the agent may stop after the last attempt. */
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
        /** Annotations of the tool's MCP server, if known. */
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
        /** The result will never be known, for example after an interruption; `result` has the reason. */
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
    /** An event unknown to the adapter, kept so that nothing is lost. */
    | { readonly type: 'unrecognised'; readonly original: JsonObject }
  );

/** The end of a run, as known to the host. */
export type AgentEnding = Omit<Extract<AgentEvent, { readonly type: 'agent_end' }>, 'type' | 'messages' | 'atMs'>;
