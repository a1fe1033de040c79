import type { JsonObject } from '../base/json.ts';
import type { AgentMessage } from './agent-message.ts';
import type { CallOutcome } from './trajectory-record.ts';
import type { EventOf, KindsThat, PayloadOf } from './shapes.ts';

export interface AgentIdentity {
  readonly runId: string;
  readonly parentRunId?: string;
  /** The number of ancestors; 0 for a root run. */
  readonly depth: number;
  readonly conversationId?: string;
  readonly agentName?: string;
  readonly modelId?: string;
}

export interface EventTime {
  /** Unix milliseconds of the event; default: the clock's time. An implausible time is ignored. */
  readonly atMs?: number;
}

/**
 * An event of an agent, reported by its host. The field `type` selects the variant. `args` and `result` may be any value.
 * docs/recording.md describes how values are stored that are not JSON or are too large.
 *
 * The `*_update` and `message_start` events are streaming deltas for user interfaces. They are never recorded.
 */
export type AgentEvent = EventTime &
  (
    | { readonly type: 'agent_start' }
    | { readonly type: 'run_identified'; readonly identity: AgentIdentity }
    | {
        readonly type: 'agent_end';
        readonly messages?: readonly AgentMessage[];
        /** `aborted`, `error`, `limit`, or another word from the host; default `ended`. */
        readonly outcome?: string;
        /** An `EndReason`, or another word from the host. */
        readonly reason?: string;
        readonly success?: boolean;
        readonly reward?: number;
        readonly labels?: JsonObject;
        /** Total cost of the session in US dollars as the host reports it, with subagents and earlier processes of the session. */
        readonly costUsd?: number;
      }
    /** The agent wanted to stop, and the completion conditions were checked. */
    | {
        readonly type: 'completion_checked';
        readonly met: boolean;
        readonly missing: readonly string[];
        /** The number of this attempt, from 1. */
        readonly attempt: number;
        /** True if the conditions were not met, but the agent may stop because this was the last attempt. */
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
        /** Annotations from the tool's MCP server, if known. */
        readonly annotations?: NonNullable<PayloadOf<'tool_started'>['annotations']>;
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
        /** `refused` by a person or a policy, `cancelled` by the user or the host. Default: from `isError` and texts of known hosts. */
        readonly outcome?: CallOutcome;
        readonly durationMs?: number;
        /** True if the result will never be known, for example after an interruption. `result` then contains the reason. */
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
    /** Events with the fields of their record, such as `run_resumed` and `compaction`; `kinds.ts` explains them. */
    | EventOf<KindsThat<{ readonly emitted: true }>>
    /** An event of a type that the adapter does not know. It is kept so that no data is lost. */
    | { readonly type: 'unrecognised'; readonly original: JsonObject }
  );

/** The end of a run, as known to the host. */
export type AgentEnding = Omit<Extract<AgentEvent, { readonly type: 'agent_end' }>, 'type' | 'messages' | 'atMs'>;
