import { wordSet } from '../../../core/base/word-set.ts';
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';

import { findSessions, hostTitle, type SessionPlaces } from '../../../formats/find-sessions.ts';
import { sessionFolder } from '../../../formats/find-sources.ts';
import type { HostName } from '../../../hosts/dialects/hook-dialect.ts';
import type { HookedHost } from './check-hosts.ts';
import type { JsonMembers } from '../../../core/base/json.ts';
import { headEntries, lastEntries } from '../../../hosts/dialects/session-file.ts';
import type { TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import type { RunSummary } from '../../../core/facts/run-summary.ts';
import type { TrajectoryStore } from '../../../core/store/trajectory-store.ts';
import { durationText } from '../../../core/base/number-text.ts';
import { projectAt } from '../../../core/node/git-folder.ts';
import { CANARY_PREFIX } from '../../../hosts/claude-code/spilled-events.ts';
import { failed, passed, unknown, type DoctorLine } from './doctor-line.ts';

/** Maximum number of runs to read: the runs with the latest records among the most recently started runs. */
const MAX_RUNS = 20;
const LISTED_RUNS = 200;
const TAIL_RECORDS = 500;

/** Events of nearly every session. All others are rare, or leave no record that names them, so their absence means nothing. */
const USUAL_EVENTS = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolBatch', 'Stop', 'SessionEnd'];

export interface Heartbeats {
  readonly lastByEvent: Readonly<Record<string, number>>;
  readonly lastRecordMs: number;
  readonly lastByHost: Readonly<Record<string, number>>;
}

/** Reads at most 500 records of each of 20 runs. `SessionStart` is only recorded when a session is resumed. */
export async function readHeartbeats(store: Pick<TrajectoryStore, 'listRuns' | 'readRun'>): Promise<Heartbeats> {
  const { runs } = await store.listRuns({ limit: LISTED_RUNS });
  const liveRuns = runs.filter(({ format, runId }) => format === undefined && !runId.startsWith(CANARY_PREFIX));
  const latestRuns = liveRuns.toSorted((a, b) => b.lastAtMs - a.lastAtMs);
  const lastByEvent = new Map<string, number>();
  const lastByHost = new Map<string, number>();
  for (const run of latestRuns.slice(0, MAX_RUNS)) {
    const host = await hostOf(store, run);
    if (host === undefined) continue;
    lastByHost.set(host, Math.max(lastByHost.get(host) ?? 0, run.lastAtMs));
    await readRun(store, run, lastByEvent);
  }
  return {
    lastByEvent: Object.fromEntries(lastByEvent),
    lastRecordMs: latestRuns[0]?.lastAtMs ?? 0,
    lastByHost: Object.fromEntries(lastByHost),
  };
}

async function readRun(
  store: Pick<TrajectoryStore, 'listRuns' | 'readRun'>,
  run: RunSummary,
  last: Map<string, number>,
): Promise<void> {
  let pointBefore: string | undefined;
  for await (const record of store.readRun(run.runId, { fromSeq: Math.max(0, run.lastSeq - TAIL_RECORDS + 1) })) {
    const event = eventOf(record, pointBefore);
    if (record.payload.kind === 'evaluation') pointBefore = record.payload.point;
    const atMs = record.recorded_at_unix_ms;
    if (event !== undefined && atMs > (last.get(event) ?? 0)) last.set(event, atMs);
  }
}

/** Undefined if no hook recorded the run, or it is damaged. A subagent's run id starts with that of its session. */
async function hostOf(
  store: Pick<TrajectoryStore, 'readRun'>,
  { problem, runId }: RunSummary,
): Promise<string | undefined> {
  if (problem !== undefined) return undefined;
  for await (const { payload } of store.readRun(runId, { limit: 1 })) {
    if (payload.kind !== 'run_started') return undefined;
    const { conversation_id: conversation } = payload.identity;
    const isOfHook = conversation !== undefined && (runId === conversation || runId.startsWith(`${conversation}/`));
    return isOfHook ? (payload.host ?? 'claude-code') : undefined;
  }
  return undefined;
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

export const HEARTBEAT_FIX = 'Let the agent take one step in this project, then run coxswain doctor again.';

/** The last message of a session may come this long after the last event of its hook. */
const LATE_WRITE_MS = 30 * 60_000;

export interface SilentSession {
  readonly host: HostName;
  readonly path: string;
  readonly modifiedAtMs: number;
  readonly lastRecordMs: number;
}

interface SilentPlaces extends SessionPlaces {
  readonly projectFolder: string;
  readonly lastByHost: Heartbeats['lastByHost'];
}

/** Finds a session that went on after the last record of its program, or, without one, began after the installation. */
export async function findSilentSession(
  hooked: readonly HookedHost[],
  { lastByHost, projectFolder, ...places }: SilentPlaces,
): Promise<SilentSession | undefined> {
  const found = findSessions(places);
  for (const { file, host } of hooked) {
    const lastRecordMs = lastByHost[host] ?? 0;
    const installedAtMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    const afterMs = lastRecordMs === 0 ? installedAtMs : lastRecordMs + LATE_WRITE_MS;
    const sessions = found.find(({ format }) => format === host)?.sessions ?? [];
    for (const { modifiedAtMs: changedAtMs, path } of sessions) {
      if (changedAtMs <= afterMs) break;
      // A copied or restored file is newer than its session, and a session that began before its hook has none.
      const [firstMs, modifiedAtMs] = entryTimes(path);
      if (modifiedAtMs <= afterMs || (lastRecordMs === 0 && firstMs <= afterMs)) continue;
      if (await isOfProject(path, projectFolder)) return { host, path, modifiedAtMs, lastRecordMs };
    }
  }
  return undefined;
}

/** A chat of Gemini CLI has a hash of the folder. */
async function isOfProject(path: string, projectFolder: string): Promise<boolean> {
  const [head] = headEntries(path);
  if (typeof head?.['projectHash'] === 'string')
    return head['projectHash'] === createHash('sha256').update(projectFolder).digest('hex');
  return projectAt(await sessionFolder(path)) === projectFolder;
}

function entryTimes(path: string): readonly [number, number] {
  const timeOf = ({ timestamp, type }: JsonMembers): number =>
    MESSAGES.has(type) ? Date.parse(String(timestamp)) || 0 : 0;
  const firstMs =
    headEntries(path)
      .map(timeOf)
      .find((atMs) => atMs > 0) ?? 0;
  return [firstMs, Math.max(0, ...lastEntries(path).map(timeOf))];
}

/** Types of entries of messages. Programs write others when a session is only looked at. */
const MESSAGES: ReadonlySet<unknown> = wordSet(
  'user assistant gemini message response_item user.message assistant.message',
);

const SILENT_STEPS: Readonly<Record<HostName, string>> = {
  'claude-code': 'Restart Claude Code: it reads its hooks only at the start.',
  codex: 'Run coxswain init codex again, or trust the hook in Codex (/hooks): it runs no other.',
  copilot: 'Restart Copilot CLI in this folder, and trust the folder: it reads the hooks at the start.',
  gemini: 'Trust this folder in Gemini CLI, not with --skip-trust, or run coxswain init gemini --user.',
  opencode: 'Restart opencode: it loads its plugins at the start.',
  'qwen-code':
    'Restart Qwen Code: it reads its hooks at the start. It loads those of a project only in a trusted folder.',
  pi: 'Start pi with -a, or trust this folder in pi, or run coxswain init pi --user.',
};

/** An absent event is not a failure. `silent`: a session of the project that went on after the last record. */
export function heartbeatLine(
  { lastByEvent, lastRecordMs }: Heartbeats,
  nowMs: number,
  silent?: SilentSession,
): DoctorLine {
  const ageOf = (atMs: number): string => durationText(Math.max(0, nowMs - atMs));
  if (silent !== undefined) {
    const { host, modifiedAtMs, path } = silent;
    const [sessionAge, recordAge] = [modifiedAtMs, silent.lastRecordMs].map(ageOf);
    const record = silent.lastRecordMs === 0 ? 'nothing of it is recorded' : `the last record is from ${recordAge} ago`;
    return failed(
      'heartbeat',
      `a session of ${hostTitle(host)} in this project went on until ${sessionAge} ago, but ${record}: ${path}`,
      `${SILENT_STEPS[host]} If the session ran with COXSWAIN_DISABLE=1, all is well.`,
    );
  }
  const events = Object.entries(lastByEvent).toSorted(([, a], [, b]) => b - a);
  const [last] = events;
  if (last === undefined && lastRecordMs > 0)
    return passed('heartbeat', `a program recorded ${ageOf(lastRecordMs)} ago`);
  if (last === undefined) return unknown('heartbeat', 'no session was recorded here yet', HEARTBEAT_FIX);
  const ages = events.map(([event, atMs]) => `${event} ${ageOf(atMs)}`);
  const missingEvents = USUAL_EVENTS.filter((event) => lastByEvent[event] === undefined);
  const missingNote =
    missingEvents.length === 0 ? '' : `; not seen, although most sessions have them: ${missingEvents.join(', ')}`;
  return passed('heartbeat', `last event ${ageOf(last[1])} ago; ${ages.join(', ')}${missingNote}`);
}
