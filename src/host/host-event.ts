import type { Json } from '../base/json.ts';
import type { RunEnding } from '../records/trajectory-record.ts';

/** A tool call as a host reports it. */
export interface HostCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  /** The host has no call ids; `id` is a time. The end of a call belongs to the oldest open one with that tool and arguments. */
  readonly isPairedByArguments?: true;
}

/** A call and the result that the model sees. */
export interface EndedCall extends HostCall {
  readonly result: Json;
  readonly isError: boolean;
  readonly durationMs?: number;
}

/** A call in a transcript. */
export interface TranscriptCall extends HostCall {
  /** Absent while the call runs. */
  readonly ended?: EndedCall;
}

/** Where an event happened. */
interface HostEventPlace {
  /** The host's name of the event, which its answer repeats. */
  readonly name: string;
  /** The agent program, where the transport serves several. */
  readonly host?: string;
  /** Absent only if the host leaves it out. */
  readonly sessionId?: string;
  /** The subagent; absent on the main thread. */
  readonly agentId?: string;
  readonly agentType?: string;
  /** Calls of the current prompt in order, one list for each answer of the model, for hosts that do not report every end. */
  readonly answers?: readonly (readonly TranscriptCall[])[];
}

/**
 * One step of an agent, in a form that no host owns. Each host has a dialect, which reads its payload into this.
 */
export type HostEvent = HostEventPlace &
  (
    | {
        readonly kind: 'session_started';
        readonly source: string;
        /** The model has forgotten earlier advice, and no prompt follows. */
        readonly isAfterCompaction: boolean;
        readonly modelId?: string;
      }
    | {
        readonly kind: 'session_ended';
        /** In the host's words. */
        readonly reason: string;
        readonly ending?: RunEnding;
      }
    /** The agent cannot go on: the model did not answer. */
    | { readonly kind: 'failed'; readonly ending: RunEnding }
    | {
        readonly kind: 'prompted';
        readonly text: string;
        /** `system`: submitted by the host, not the user. */
        readonly role: 'user' | 'system';
        /** A user's request: not a command echo or a reminder of the host. */
        readonly isTask: boolean;
        /** The host turns an answer that forces a turn into a prompt. */
        readonly mayBeForced?: true;
      }
    | { readonly kind: 'agent_started'; readonly agentId: string }
    | { readonly kind: 'call_issued'; readonly call: HostCall }
    | {
        readonly kind: 'call_ended';
        readonly call: EndedCall;
        /** The host reports no `batch_ended`: the batch ends when no call is open, or when these calls are closed. */
        readonly batch?: 'open-calls' | readonly string[];
        /** The host ignores the answer to this event: advice waits for `batch_ended`. */
        readonly isMute?: true;
      }
    /** All calls of one answer have ended, refused ones included; `isError` counts only if no event reported the end. */
    | { readonly kind: 'batch_ended'; readonly calls: readonly EndedCall[] }
    | {
        readonly kind: 'stopped';
        readonly isSubagent: boolean;
        /** An earlier answer to this event made the agent go on. */
        readonly isForced: boolean;
        readonly lastMessage?: string;
      }
    | { readonly kind: 'compacted'; readonly trigger: string }
    /** The host asks its user for permission, or a call was refused; settled when the call goes on. */
    | { readonly kind: 'permission'; readonly isDenied: boolean; readonly toolName?: string }
  );

/** A prompt, as `HostEvent` has it. */
export type PromptEvent = Extract<HostEvent, { readonly kind: 'prompted' }>;
