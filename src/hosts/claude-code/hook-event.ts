import { basename, join } from 'node:path';

import { isJsonObject, jsonOf } from '../../core/base/json.ts';
import { textOrUndefined } from '../../core/base/json-member.ts';
import { present } from '../../core/base/present.ts';
import type { HostEvent, SessionAnswer } from '../../adapters/host/host-event.ts';
import { dialectOf } from '../dialects/dialects.ts';
import type { HookAnswer, HookPayload, HostName } from '../dialects/hook-dialect.ts';
import { readPayload } from '../dialects/read-payload.ts';
import { endingAfter } from '../../formats/claude-code/claude-ending.ts';
import type { RunEnding } from '../../core/records/trajectory-record.ts';
import { claudeCodeImporter } from '../../formats/claude-code/claude-code.ts';
import { readSession } from '../dialects/session-file.ts';
import { transcriptTail } from '../dialects/transcript-tail.ts';

/** Number of bytes that are read at the end of a transcript. */
const ENDING_BYTES = 512 * 1024;

/**
 * Returns how a session ended, from the end of its transcript. No hook event reports a turn limit, a context overflow or an
 * interruption.
 *
 * @returns undefined if the file is missing, is not a regular file, or contains no ending
 */
export function endingOfTranscript(path: string): RunEnding | undefined {
  let ending: RunEnding | undefined | 'same' = 'same';
  for (const entry of transcriptTail(path, ENDING_BYTES)) {
    if (entry['isSidechain'] === true) continue;
    const next = endingAfter(entry);
    if (next !== 'same') ending = next;
  }
  if (ending === 'same') return undefined;
  return ending ?? { outcome: 'aborted', reason: 'interrupted' };
}

/** A hook event as read from the host. */
export interface HookEvent {
  /** Event name and session id for the fault log. Each is absent if it could not be read. */
  readonly about: { readonly event?: string; readonly sessionId?: string };
  readonly host: HostName;
  /** Working folder of the session. */
  readonly cwd: string | undefined;
  /** Undefined if the event is unknown or lacks a required field. */
  readonly known:
    | {
        readonly input: HostEvent;
        readonly sessionId: string;
        readonly hasBackgroundWork: boolean;
        /** Converts an answer to the format of the host. */
        readonly answerFor: (answer: HookAnswer) => object;
      }
    | undefined;
  /** The event in the format of `readPayload`. */
  readonly json: HookPayload;
}

/** An event that can be recorded. */
export interface KnownHookEvent extends HookEvent {
  readonly known: NonNullable<HookEvent['known']>;
}

export function isKnownEvent(event: HookEvent): event is KnownHookEvent {
  return event.known !== undefined;
}

/** Maximum length of event names and session ids in the fault log. */
const MAX_NAME_CHARS = 100;

/**
 * Reads the JSON input of a hook, with or without a byte order mark.
 *
 * @returns undefined if it is not a JSON object
 */
export function readHookEvent(bytes: Buffer): HookEvent | undefined {
  const text = bytes.toString('utf8');
  const payload = jsonOf(text.startsWith('\uFEFF') ? text.slice(1) : text);
  if (!isJsonObject(payload)) return undefined;
  const dialect = dialectOf(payload);
  const { host } = dialect;
  // A spilled event already has this form.
  const json = payload['host'] === undefined ? { ...dialect.toPayload(payload), host } : payload;
  const event = textOrUndefined(json['hook_event_name'] ?? payload['hook_event_name']);
  const sessionId = textOrUndefined(json['session_id']);
  const read = readPayload(json);
  const input = host === 'claude-code' ? withSession(read, json) : read;
  const background = json['background_tasks'];
  const hasBackgroundWork = Array.isArray(background) && background.length > 0;
  return {
    about: present({ event: event?.slice(0, MAX_NAME_CHARS), sessionId: sessionId?.slice(0, MAX_NAME_CHARS) }),
    host,
    cwd: textOrUndefined(payload['cwd']),
    known:
      input === undefined || sessionId === undefined
        ? undefined
        : { input, sessionId, hasBackgroundWork, answerFor: (answer) => dialect.toAnswer(answer, input, payload) },
    json,
  };
}

/** Events at which the session file is read: the calls before them have ended. */
const WITH_SESSION: ReadonlySet<HostEvent['kind']> = new Set([
  'prompted',
  'batch_ended',
  'stopped',
  'failed',
  'compacted',
  'session_ended',
]);

/** Adds what the session file of Claude Code has. */
function withSession(input: HostEvent | undefined, json: HookPayload): HostEvent | undefined {
  const { agent_transcript_path: agentFile, session_id: session, transcript_path: main } = json;
  if (input === undefined || !WITH_SESSION.has(input.kind) || typeof main !== 'string') return input;
  // Never the file of another session.
  if (basename(main) !== `${String(session)}.jsonl`) return input;
  const { agentId } = input;
  const path =
    agentId === undefined
      ? main
      : (textOrUndefined(agentFile) ?? join(main.slice(0, -'.jsonl'.length), 'subagents', `agent-${agentId}.jsonl`));
  const file = { path, importer: claudeCodeImporter, agentId };
  const event = { ...input, session: (isKnown: (answer: SessionAnswer) => boolean) => readSession(file, isKnown) };
  if (event.kind !== 'session_ended') return event;
  const ending = endingOfTranscript(main);
  return ending === undefined ? event : { ...event, ending };
}
