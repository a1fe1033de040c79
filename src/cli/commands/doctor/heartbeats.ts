import { passOver } from '../../../records/pass-over.ts';
import type { TrajectoryRecord } from '../../../records/trajectory-record.ts';
import { hookGroups } from '../../../hosts/claude-code/init-hooks.ts';
import type { RunSummary } from '../../../store/run-summary.ts';
import type { TrajectoryStore } from '../../../store/trajectory-store.ts';
import { durationText } from '../../../base/number-text.ts';
import { CANARY_PREFIX, passed, unknown, type DoctorLine } from './doctor-line.ts';

/** Runs that are looked at, of those that started last the ones with the latest records. */
const MAX_RUNS = 20;
const LISTED_RUNS = 200;
/** Last records of each. */
const TAIL_RECORDS = 500;

/** When hooks last wrote. Plain JSON. */
export interface Heartbeats {
  /** Unix milliseconds by event of Claude Code; an event that left no record is not in it. */
  readonly lastByEvent: Readonly<Record<string, number>>;
  /** Unix milliseconds of the latest record of any run; 0 where there is none. */
  readonly lastRecordMs: number;
}

/**
 * Reads when a hook last wrote, per event, from the latest records of the latest sessions. A record tells its event by
 * what it is; `SessionStart` leaves one only when a session is opened again.
 *
 * Cost: 20 runs of 500 records at most.
 */
export async function readHeartbeats(store: Pick<TrajectoryStore, 'listRuns' | 'readRun'>): Promise<Heartbeats> {
  const { runs } = await store.listRuns({ limit: LISTED_RUNS });
  const lived = runs.filter(({ format, runId }) => format === undefined && !runId.startsWith(CANARY_PREFIX));
  const latest = lived.toSorted((a, b) => b.lastAtMs - a.lastAtMs);
  const lastByEvent = new Map<string, number>();
  for (const run of latest.slice(0, MAX_RUNS)) await readRun(store, run, lastByEvent);
  return { lastByEvent: Object.fromEntries(lastByEvent), lastRecordMs: latest[0]?.lastAtMs ?? 0 };
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

/** A session's run is named like its conversation; a subagent's, like that and more. */
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
      // With a prompt two points are asked for, one after the other.
      return payload.point === 'pre_tool_selection' && pointBefore !== 'pre_render' ? 'PostToolBatch' : undefined;
    case 'run_ended':
      return depth === 0 && payload.labels !== undefined && 'reason' in payload.labels ? 'SessionEnd' : undefined;
    default:
      passOver<'talk' | 'requests' | 'host' | 'patterns' | 'produced' | 'delivered' | 'asked' | 'faults' | 'unread'>(
        payload,
      );
      return undefined;
  }
}

/** When hooks last wrote; that none did proves nothing. */
export function heartbeatLine({ lastByEvent }: Heartbeats, nowMs: number): DoctorLine {
  const seen = Object.entries(lastByEvent).toSorted(([, a], [, b]) => b - a);
  const [last] = seen;
  const fix = 'Let Claude Code take one step in this project; then run coxswain doctor again.';
  if (last === undefined) return unknown('heartbeat', 'no session was recorded here yet', fix);
  const ages = seen.map(([event, atMs]) => `${event} ${durationText(Math.max(0, nowMs - atMs))}`);
  const missing = [...hookGroups('').keys()].filter((event) => lastByEvent[event] === undefined);
  const rest = missing.length === 0 ? '' : `; not seen: ${missing.join(', ')}`;
  return passed(
    'heartbeat',
    `the last came ${durationText(Math.max(0, nowMs - last[1]))} ago; ${ages.join(', ')}${rest}`,
  );
}
