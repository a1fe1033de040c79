import { readHookInput } from '../../adapters/claude/read-hook-input.ts';
import { isJsonObject } from '../../base/json.ts';
import type { HostEvent } from '../../host/host-event.ts';
import type { HookAnswer } from './claude-sessions.ts';
import { copilotAnswer, isCopilotEvent, readCopilotInput } from './copilot-dialect.ts';
import { endingOfTranscript } from './transcript-ending.ts';

/** What Claude Code sent, as far as it is read. */
export interface HookEvent {
  /** The event and the session, where they could be read: for what is written down of a fault. */
  readonly about: { readonly event?: string; readonly sessionId?: string };
  /** The session's working folder. */
  readonly cwd: string | undefined;
  /** What is to be taken; undefined for an event that is not known, or lacks what it must have. */
  readonly told:
    | {
        readonly input: HostEvent;
        readonly sessionId: string;
        readonly hasBackgroundWork: boolean;
        /** Puts an answer where the host looks for it. */
        readonly answerFor: (answer: HookAnswer) => HookAnswer;
      }
    | undefined;
  /** What was read. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** An event that can be taken. */
export interface KnownHookEvent extends HookEvent {
  readonly told: NonNullable<HookEvent['told']>;
}

/** Whether an event can be taken. */
export function isKnownEvent(event: HookEvent): event is KnownHookEvent {
  return event.told !== undefined;
}

/** Of an event and a session id so much is written down. */
const MAX_NAME_CHARS = 100;

/**
 * Reads the JSON that Claude Code, or Copilot CLI in its place, gives a hook, with or without a byte order mark.
 *
 * @returns undefined where it is no JSON object
 */
export function readHookEvent(bytes: Buffer): HookEvent | undefined {
  const json = parse(bytes);
  if (!isJsonObject(json)) return undefined;
  const event = textOf(json['hook_event_name']);
  const sessionId = textOf(json['session_id']);
  const isCopilots = isCopilotEvent(json);
  const input = isCopilots ? readCopilotInput(json) : withEnding(readHookInput(json), json['transcript_path']);
  const background = json['background_tasks'];
  const hasBackgroundWork = Array.isArray(background) && background.length > 0;
  return {
    about: {
      ...(event === undefined ? {} : { event: event.slice(0, MAX_NAME_CHARS) }),
      ...(sessionId === undefined ? {} : { sessionId: sessionId.slice(0, MAX_NAME_CHARS) }),
    },
    cwd: textOf(json['cwd']),
    told:
      input === undefined || sessionId === undefined
        ? undefined
        : { input, sessionId, hasBackgroundWork, answerFor: isCopilots ? copilotAnswer : (answer) => answer },
    json,
  };
}

function withEnding(input: HostEvent | undefined, transcript: unknown): HostEvent | undefined {
  if (input?.kind !== 'session_ended' || typeof transcript !== 'string') return input;
  const ending = endingOfTranscript(transcript);
  return ending === undefined ? input : { ...input, ending };
}

function parse(bytes: Buffer): unknown {
  try {
    const text = bytes.toString('utf8');
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
  } catch {
    // What JSON.parse says of it quotes the input.
    return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
