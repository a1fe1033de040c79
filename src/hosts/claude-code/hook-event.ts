import { numberOrUndefined, textOrUndefined, isJsonObject, jsonOf, present } from '../../core/base/json.ts';
import type { HostEvent, SessionReader } from '../../adapters/host/host-event.ts';
import { agentFileOf, isSessionFile, sessionFileOf } from '../../formats/find-sessions.ts';
import { dialectOf } from '../dialects/dialects.ts';
import type { HookAnswer, HookDialect, HookPayload, HostName } from '../dialects/hook-dialect.ts';
import { readPayload } from '../dialects/read-payload.ts';
import { readSession, waitForTexts, type SessionFile } from '../dialects/session-file.ts';

export interface HookEvent {
  readonly about: { readonly event?: string; readonly sessionId?: string };
  readonly host: HostName;
  /** Working folder of the session. */
  readonly cwd: string | undefined;
  readonly known:
    | {
        readonly input: HostEvent;
        readonly sessionId: string;
        readonly hasBackgroundWork: boolean;
        readonly answerFor: (answer: HookAnswer) => object;
        /** Waits a moment until the session file has what the event does not say about its calls. */
        readonly waitForFile: (sleep?: (ms: number) => void) => void;
      }
    | undefined;
  readonly json: HookPayload;
}

export interface KnownHookEvent extends HookEvent {
  readonly known: NonNullable<HookEvent['known']>;
}

export function isKnownEvent(event: HookEvent): event is KnownHookEvent {
  return event.known !== undefined;
}

const MAX_NAME_CHARS = 100;

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
  const file = read && fileOf(read, json, dialect);
  const input = read && (file === undefined ? read : { ...read, session: readerOf(file) });
  const background = json['background_tasks'];
  const hasBackgroundWork = Array.isArray(background) && background.length > 0;
  return {
    about: present({ event: event?.slice(0, MAX_NAME_CHARS), sessionId: sessionId?.slice(0, MAX_NAME_CHARS) }),
    host,
    cwd: textOrUndefined(json['cwd'] ?? payload['cwd']),
    known:
      input === undefined || sessionId === undefined
        ? undefined
        : {
            input,
            sessionId,
            hasBackgroundWork,
            answerFor: (answer) => dialect.toAnswer(answer, input, payload),
            waitForFile(sleep) {
              const { neededText } = dialect;
              if (file === undefined || neededText === undefined || input.kind !== 'batch_ended') return;
              waitForTexts(file.path, input.calls.map(neededText), sleep);
            },
          },
    json,
  };
}

const WITHOUT_SESSION: ReadonlySet<HostEvent['kind']> = new Set(['session_started', 'agent_started', 'permission']);

/** The session file of an event, which completes what the event says. */
function fileOf(
  { agentId, kind }: HostEvent,
  json: HookPayload,
  { host, importer }: HookDialect,
): SessionFile | undefined {
  const path = WITHOUT_SESSION.has(kind) ? undefined : sessionPath(host, json);
  if (path === undefined) return undefined;
  const { agent_transcript_path: agentFile, model, written_until_ms: writtenUntilMs } = json;
  return {
    path: agentId === undefined ? path : (textOrUndefined(agentFile) ?? agentFileOf(host, path, agentId)),
    importer,
    sessionId: String(json['session_id']),
    agentId,
    modelId: textOrUndefined(model),
    writtenUntilMs: numberOrUndefined(writtenUntilMs),
    hasOtherCalls: json['names_differ'] === true,
  };
}

function readerOf(file: SessionFile): SessionReader {
  return (isKnown, waits) => readSession(waits ? file : { ...file, writtenUntilMs: undefined }, isKnown);
}

/** Hosts whose events do not name the file. */
const UNNAMED: ReadonlySet<HostName> = new Set(['copilot', 'opencode', 'pi']);

function sessionPath(host: HostName, json: HookPayload): string | undefined {
  const { agent_id: agentId, session_id: id, transcript_path: path } = json;
  const { env } = process;
  // Events of a subagent of Codex name the file of the subagent.
  if (typeof path === 'string')
    return [id, agentId].some((one) => isSessionFile(host, String(one), path)) ? path : undefined;
  return UNNAMED.has(host) ? sessionFileOf(host, String(id), { home: findHomeFolder(env), env }) : undefined;
}

/** Like `os.homedir()`, but loads `node:os` only on Windows or if `HOME` is empty. */
export function findHomeFolder({ HOME }: NodeJS.ProcessEnv): string {
  if (process.platform !== 'win32' && HOME !== undefined && HOME !== '') return HOME;
  return process.getBuiltinModule('node:os').homedir();
}
