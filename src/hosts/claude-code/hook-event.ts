import { isJsonObject } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import type { HostEvent } from '../../host/host-event.ts';
import { dialectOf } from '../dialects/dialects.ts';
import type { HookAnswer, HookPayload, HostName } from '../dialects/hook-dialect.ts';
import { readPayload } from '../dialects/read-payload.ts';
import { endingOfTranscript } from './transcript-ending.ts';

/** What a host sent, as far as it is read. */
export interface HookEvent {
  /** The event and the session, where they could be read: for what is written down of a fault. */
  readonly about: { readonly event?: string; readonly sessionId?: string };
  readonly host: HostName;
  /** The session's working folder. */
  readonly cwd: string | undefined;
  /** What is to be taken; undefined for an event that is not known, or lacks what it must have. */
  readonly told:
    | {
        readonly input: HostEvent;
        readonly sessionId: string;
        readonly hasBackgroundWork: boolean;
        /** Puts an answer where the host looks for it. */
        readonly answerFor: (answer: HookAnswer) => object;
      }
    | undefined;
  /** What was read, in the form of `readPayload`. */
  readonly json: HookPayload;
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
 * Reads the JSON that a host gives a hook, with or without a byte order mark.
 *
 * @returns undefined where it is no JSON object
 */
export function readHookEvent(bytes: Buffer): HookEvent | undefined {
  const sent = parse(bytes);
  if (!isJsonObject(sent)) return undefined;
  const dialect = dialectOf(sent);
  const { host } = dialect;
  // One that waited in a file is in that form already.
  const json = sent['host'] === undefined ? { ...dialect.toPayload(sent), host } : sent;
  const event = textOf(json['hook_event_name'] ?? sent['hook_event_name']);
  const sessionId = textOf(json['session_id']);
  const input = withEnding(readPayload(json), host === 'claude-code' ? json['transcript_path'] : undefined);
  const background = json['background_tasks'];
  const hasBackgroundWork = Array.isArray(background) && background.length > 0;
  return {
    about: present({ event: event?.slice(0, MAX_NAME_CHARS), sessionId: sessionId?.slice(0, MAX_NAME_CHARS) }),
    host,
    cwd: textOf(sent['cwd']),
    told:
      input === undefined || sessionId === undefined
        ? undefined
        : { input, sessionId, hasBackgroundWork, answerFor: (answer) => dialect.toAnswer(answer, input, sent) },
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
