import type { Json } from '../base/json.ts';
import type { RunEnding } from '../records/trajectory-record.ts';

/** A tool call as a host reports it. */
export interface HostCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  /** The host has no call ids, and `id` only says when. The end of a call belongs to the oldest open one of that tool and arguments. */
  readonly isPairedByArguments?: true;
}

/** A call and the result that the model sees. */
export interface EndedCall extends HostCall {
  readonly result: Json;
  readonly isError: boolean;
  readonly durationMs?: number;
}

/** A call that a transcript knows of. */
export interface TranscriptCall extends HostCall {
  /** Absent while it runs. */
  readonly ended?: EndedCall;
}

/** Where an event happened. */
interface HostEventPlace {
  /** The host's own name of the event, which its answer repeats. */
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
 * An event of a host that reports what happens step by step, in words that no host owns. Each host has a dialect: a function
 * that reads its payload into this.
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
        /** What else is known of the end. */
        readonly ending?: RunEnding;
      }
    /** The agent cannot go on: the model did not answer. */
    | { readonly kind: 'failed'; readonly ending: RunEnding }
    | {
        readonly kind: 'prompted';
        readonly text: string;
        /** `system`: the host submitted it in the place of a user. */
        readonly role: 'user' | 'system';
        /** A user asks for something: no command echo, no reminder of the host. */
        readonly isTask: boolean;
        /** The host makes a prompt of an answer that forces a turn. */
        readonly mayBeForced?: true;
      }
    | { readonly kind: 'agent_started'; readonly agentId: string }
    | { readonly kind: 'call_issued'; readonly call: HostCall }
    | {
        readonly kind: 'call_ended';
        readonly call: EndedCall;
        /** The host reports no `batch_ended`: the batch is over once no call is open, or once these calls are closed. */
        readonly batch?: 'open-calls' | readonly string[];
        /** The host drops the answer to this event: advice waits for `batch_ended`. */
        readonly isMute?: true;
      }
    /** All calls of one answer are done, refused ones included: `isError` holds if no event reported their end. */
    | { readonly kind: 'batch_ended'; readonly calls: readonly EndedCall[] }
    | {
        readonly kind: 'stopped';
        readonly isSubagent: boolean;
        /** An earlier answer to this event made the agent go on. */
        readonly isForced: boolean;
        readonly lastMessage?: string;
      }
    | { readonly kind: 'compacted'; readonly trigger: string }
    /** The host asks its user whether a call may run, or a call was refused; nothing is open any more when the call goes on. */
    | { readonly kind: 'permission'; readonly isDenied: boolean; readonly toolName?: string }
  );

/** A prompt, as `HostEvent` has it. */
export type PromptEvent = Extract<HostEvent, { readonly kind: 'prompted' }>;
