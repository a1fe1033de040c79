import { findSessions, type FoundSession, type SessionPlaces } from '../../../formats/find-sessions.ts';
import { sessionFolder } from '../../../formats/session-folder.ts';
import { lastEntries } from '../../../hosts/dialects/session-file.ts';
import type { TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import type { RunSummary } from '../../../core/facts/run-summary.ts';
import type { TrajectoryStore } from '../../../core/store/trajectory-store.ts';
import { durationText } from '../../../core/base/number-text.ts';
import { projectAt } from '../../../core/node/git-folder.ts';
import { CANARY_PREFIX, failed, passed, unknown, type DoctorLine } from './doctor-line.ts';

/** Maximum number of runs to read: the runs with the latest records among the most recently started runs. */
const MAX_RUNS = 20;
const LISTED_RUNS = 200;
/** Maximum number of records read from the end of each run. */
const TAIL_RECORDS = 500;

/** Events of nearly every session. All others are rare, or leave no record that names them, so their absence means nothing. */
const USUAL_EVENTS = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolBatch', 'Stop', 'SessionEnd'];

/** The times of the last hook events. Plain JSON. */
export interface Heartbeats {
  /** Unix milliseconds by Claude Code event name. Events without a record are absent. */
  readonly lastByEvent: Readonly<Record<string, number>>;
  /** Unix milliseconds of the last record of any run; 0 without records. */
  readonly lastRecordMs: number;
}

/**
 * Reads the time of the last hook event of each type from the last records of the most recent sessions. `SessionStart` is only
 * recorded when a session is resumed.
 *
 * Cost: reads at most 500 records of each of 20 runs.
 */
export async function readHeartbeats(store: Pick<TrajectoryStore, 'listRuns' | 'readRun'>): Promise<Heartbeats> {
  const { runs } = await store.listRuns({ limit: LISTED_RUNS });
  const liveRuns = runs.filter(({ format, runId }) => format === undefined && !runId.startsWith(CANARY_PREFIX));
  const latestRuns = liveRuns.toSorted((a, b) => b.lastAtMs - a.lastAtMs);
  const lastByEvent = new Map<string, number>();
  for (const run of latestRuns.slice(0, MAX_RUNS)) await readRun(store, run, lastByEvent);
  return { lastByEvent: Object.fromEntries(lastByEvent), lastRecordMs: latestRuns[0]?.lastAtMs ?? 0 };
}

async function readRun(
  store: Pick<TrajectoryStore, 'listRuns' | 'readRun'>,
  run: RunSummary,
  last: Map<string, number>,
): Promise<void> {
  if (run.problem !== undefined || !(await isOfHook(store, run))) return;
  let pointBefore: string | undefined;
  for await (const record of store.readRun(run.runId, { fromSeq: Math.max(0, run.lastSeq - TAIL_RECORDS + 1) })) {
    const event = eventOf(record, pointBefore);
    if (record.payload.kind === 'evaluation') pointBefore = record.payload.point;
    const atMs = record.recorded_at_unix_ms;
    if (event !== undefined && atMs > (last.get(event) ?? 0)) last.set(event, atMs);
  }
}

/** Returns true if a hook recorded the run. The run id of a session is the session id. The run id of a subagent starts with it. */
async function isOfHook(store: Pick<TrajectoryStore, 'listRuns' | 'readRun'>, { runId }: RunSummary): Promise<boolean> {
  for await (const { payload } of store.readRun(runId, { limit: 1 })) {
    if (payload.kind !== 'run_started') return false;
    const { conversation_id: conversation } = payload.identity;
    return conversation !== undefined && (runId === conversation || runId.startsWith(`${conversation}/`));
  }
  return false;
}

function eventOf({ depth, payload }: TrajectoryRecord, pointBefore: string | undefined): string | undefined {
  switch (payload.kind) {
    case 'run_started':
      return depth > 0 ? 'SubagentStart' : undefined;
    case 'run_resumed':
      return ['startup', 'resume', 'clear', 'compact'].includes(payload.trigger) ? 'SessionStart' : undefined;
    case 'message_appended':
      return payload.message.role === 'user' ? 'UserPromptSubmit' : undefined;
    case 'tool_started':
      return 'PreToolUse';
    case 'tool_ended':
      if (payload.result_missing === true) return undefined;
      return payload.is_error ? 'PostToolUseFailure' : 'PostToolUse';
    case 'compaction':
      return 'PreCompact';
    case 'evaluation':
      if (payload.point === 'pre_response') return depth > 0 ? 'SubagentStop' : 'Stop';
      // A prompt evaluates two decision points in sequence.
      return payload.point === 'pre_tool_selection' && pointBefore !== 'pre_render' ? 'PostToolBatch' : undefined;
    case 'run_ended':
      return depth === 0 && payload.labels !== undefined && 'reason' in payload.labels ? 'SessionEnd' : undefined;
    default:
      return undefined;
  }
}

export const HEARTBEAT_FIX = 'Let Claude Code take one step in this project, then run coxswain doctor again.';

/** The last message of a session may come this long after the last event of its hook. */
const LATE_WRITE_MS = 30 * 60_000;

/**
 * Finds a Claude Code session of a project that went on after the last record, so its hook was silent.
 *
 * @param lastRecordMs  0 without records: the hook may be younger than every session, so none is found
 */
export async function findSilentSession(
  projectFolder: string,
  places: SessionPlaces,
  lastRecordMs: number,
): Promise<FoundSession | undefined> {
  if (lastRecordMs === 0) return undefined;
  const hosts = await findSessions(places);
  const sessions = hosts.find(({ format }) => format === 'claude-code')?.sessions ?? [];
  for (const session of sessions) {
    if (session.modifiedAtMs <= lastRecordMs + LATE_WRITE_MS) return undefined;
    // A copied or restored file is newer than its session.
    const modifiedAtMs = lastEntryMs(session.path);
    if (modifiedAtMs <= lastRecordMs + LATE_WRITE_MS) continue;
    if (projectAt(await sessionFolder(session.path)) === projectFolder) return { ...session, modifiedAtMs };
  }
  return undefined;
}

/** Returns the time of the last message in a session file; 0 if none is found. */
function lastEntryMs(path: string): number {
  let lastMs = 0;
  for (const { timestamp, type } of lastEntries(path)) {
    if (type === 'user' || type === 'assistant') lastMs = Math.max(lastMs, Date.parse(String(timestamp)) || 0);
  }
  return lastMs;
}

/**
 * Reports the times of the last hook events. An absent event is not a failure.
 *
 * @param silent  a session of the project that went on after the last record
 */
export function heartbeatLine(
  { lastByEvent, lastRecordMs }: Heartbeats,
  nowMs: number,
  silent?: FoundSession,
): DoctorLine {
  if (silent !== undefined) {
    const [sessionAge, recordAge] = [silent.modifiedAtMs, lastRecordMs].map((atMs) =>
      durationText(Math.max(0, nowMs - atMs)),
    );
    return failed(
      'heartbeat',
      `a session of this project went on until ${sessionAge} ago, but the last record is from ${recordAge} ago: ${silent.path}`,
      'Restart Claude Code: it reads its hooks only at the start. If the session ran with COXSWAIN_DISABLE=1, all is well.',
    );
  }
  const events = Object.entries(lastByEvent).toSorted(([, a], [, b]) => b - a);
  const [last] = events;
  if (last === undefined) return unknown('heartbeat', 'no session was recorded here yet', HEARTBEAT_FIX);
  const ages = events.map(([event, atMs]) => `${event} ${durationText(Math.max(0, nowMs - atMs))}`);
  const missingEvents = USUAL_EVENTS.filter((event) => lastByEvent[event] === undefined);
  const missingNote =
    missingEvents.length === 0 ? '' : `; not seen, although most sessions have them: ${missingEvents.join(', ')}`;
  const lastAge = durationText(Math.max(0, nowMs - last[1]));
  return passed('heartbeat', `last event ${lastAge} ago; ${ages.join(', ')}${missingNote}`);
}
