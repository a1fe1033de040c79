import type { Json } from '../../core/base/json.ts';
import type { CallOutcome, RunEnding } from '../../core/records/trajectory-record.ts';
import type { Usage } from '../../core/records/agent-message.ts';

export interface HostCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  /** The host has no call ids: `id` is a time, and an end belongs to the oldest open call with the same tool and arguments. */
  readonly isPairedByArguments?: true;
  /** Unix milliseconds. Absent if the call starts now. */
  readonly atMs?: number;
}

export interface EndedCall extends HostCall {
  readonly result: Json;
  readonly isError: boolean;
  /** Set if the host states that the call was refused or cancelled. Default: from `isError` and the host's text. */
  readonly outcome?: CallOutcome | undefined;
  readonly durationMs?: number;
  readonly endedAtMs?: number;
}

export interface TranscriptCall extends HostCall {
  /** The result of the call. Absent while the call runs. */
  readonly ended?: EndedCall;
}

export interface AnswerUsage {
  readonly atMs: number;
  readonly modelId?: string;
  readonly usage: Usage;
}

export interface SessionAnswer {
  /** Unix milliseconds; 0 if the file has no time. */
  readonly atMs: number;
  readonly text: string;
  readonly modelId?: string;
  readonly usage?: Usage;
  readonly calls: readonly TranscriptCall[];
  /** Trigger of a compaction before the answer, for hosts that do not report it by an event. */
  readonly compaction?: string;
  /** The data of a `limit_used` record that followed the answer. */
  readonly limit?: Json;
  /** False if the file may get more parts of the answer. */
  readonly isWhole: boolean;
  /** True for an answer that failed or was aborted, and was paid: it is no turn. */
  readonly hasFailed?: true;
}

export interface SessionPart {
  readonly answers: readonly SessionAnswer[];
  readonly costUsd?: number;
  /** How the session ends if nothing follows. Absent if the file does not say it. */
  readonly ending?: RunEnding;
  /** True if the file says that the program has ended. */
  readonly hasEnded?: true;
}

/**
 * Reads the end of a session file.
 *
 * @param isKnown  returns true for an answer that the run has recorded
 * @param waits  true to wait until the host has written what came before the event; see `SessionFile.writtenUntilMs`
 */
export type SessionReader = (isKnown: (answer: SessionAnswer) => boolean, waits: boolean) => SessionPart;

interface HostEventPlace {
  readonly name: string;
  /** The agent program. Set if the transport serves several programs. */
  readonly host?: string;
  readonly sessionId?: string;
  /** Id of the subagent. Absent on the main thread. */
  readonly agentId?: string;
  readonly agentType?: string;
  /** Tokens of the latest answers in order, also of recorded ones. Set for hosts whose events contain no tokens. */
  readonly usages?: readonly AnswerUsage[];
  /** Reads the session file, which has what no event reports: tokens, refused calls, and events whose hook failed. */
  readonly session?: SessionReader;
}

export type HostEvent = HostEventPlace &
  (
    | {
        readonly kind: 'session_started';
        readonly source: string;
        /** True if the session starts after a compaction: the model no longer has earlier advice, and no prompt follows. */
        readonly isAfterCompaction: boolean;
        readonly modelId?: string;
      }
    | {
        readonly kind: 'session_ended';
        readonly reason: string;
        readonly ending?: RunEnding;
      }
    /** The agent cannot continue because the model did not answer. */
    | { readonly kind: 'failed'; readonly ending: RunEnding }
    | {
        readonly kind: 'prompted';
        readonly text: string;
        /** `system` if the host, not the user, submitted the prompt. */
        readonly role: 'user' | 'system';
        /** True if the prompt is a request of the user. False for command echoes and reminders of the host. */
        readonly isTask: boolean;
        /** True if the host starts a forced turn with a prompt event. */
        readonly mayBeForced?: true;
      }
    | { readonly kind: 'agent_started'; readonly agentId: string }
    | { readonly kind: 'call_issued'; readonly call: HostCall; readonly hasNoBatches?: true }
    | {
        readonly kind: 'call_ended';
        readonly call: EndedCall;
        /** True if the host reports no `batch_ended`: the calls of an answer end as the session file says, or when none is open. */
        readonly hasNoBatches?: true;
        /** True if the host ignores the answer to this event. Advice then waits for `batch_ended`. */
        readonly isMute?: true;
      }
    /** All calls of one answer have ended, including refused calls. `isError` is used only if no event reported the end of the call. */
    | { readonly kind: 'batch_ended'; readonly calls: readonly EndedCall[] }
    | {
        readonly kind: 'stopped';
        readonly isSubagent: boolean;
        /** True if an earlier answer to this event made the agent continue. */
        readonly isForced: boolean;
        readonly lastMessage?: string;
      }
    | { readonly kind: 'compacted'; readonly trigger: string }
    /** Nothing happened: the session file is read after a fault, or while a command runs. */
    | { readonly kind: 'seen' }
    | { readonly kind: 'permission'; readonly isDenied: boolean; readonly toolName?: string }
  );

export type PromptEvent = Extract<HostEvent, { readonly kind: 'prompted' }>;
