import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { isJsonObject } from '../../base/json.ts';
import { projectFolderOf } from '../../claude-code/project-folder.ts';
import { countSpills } from '../../claude-code/spilled-events.ts';
import { findProject, userFolders } from '../../config/find-config.ts';
import type { ResolvedStore } from '../../config/resolved-config.ts';
import type { TrajectoryRecord } from '../../events/trajectory-record.ts';
import { glanceSqlite } from '../../store/sqlite-glance.ts';
import { runStatus, type RunStatus } from './run-status.ts';

/** Of a run in a folder of JSON lines, the first and the last records are read. */
const HEAD_RECORDS = 64;
const TAIL_RECORDS = 2_000;

/** What `findStatus` goes by. */
export interface StatusHints {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What came on standard input: Claude Code gives a status line its session. */
  readonly stdin: string;
  readonly nowMs: number;
}

/**
 * How the run of this project stands: the one of the session that standard input names, else the one at work last.
 *
 * @returns undefined when there is none
 * @throws what the store throws
 */
export async function findStatus({ env, nowMs, stdin }: StatusHints): Promise<RunStatus | undefined> {
  const session = sessionOf(stdin);
  const projectFolder = projectFolderOf({
    projectDir: env['CLAUDE_PROJECT_DIR'] ?? session.projectDir,
    cwd: session.cwd ?? process.cwd(),
  });
  const store = await storeOf(projectFolder, env);
  const status = existsSync(store.path) ? await storedStatus(store, session, nowMs) : undefined;
  const waitingEvents = status === undefined ? 0 : countSpills(store.path).waiting;
  return status && waitingEvents > 0 ? { ...status, waitingEvents } : status;
}

async function storedStatus(
  { kind, path }: ResolvedStore,
  session: SessionHints,
  nowMs: number,
): Promise<RunStatus | undefined> {
  if (kind === 'sqlite') {
    const glance = glanceSqlite(path, session.id);
    return glance && runStatus(glance.summary, glance.records, nowMs);
  }
  const { jsonlStore } = await import('../../store/jsonl-store.ts');
  const store = jsonlStore(path);
  try {
    const { runs } = session.id === undefined ? await store.listRuns() : { runs: [await store.findRun(session.id)] };
    const live = runs.flatMap((run) => (run === undefined ? [] : [run]));
    const own = live.filter(({ depth, format }) => session.id !== undefined || (depth === 0 && format === undefined));
    const summary = own.toSorted((a, b) => b.lastAtMs - a.lastAtMs)[0];
    if (summary === undefined) return undefined;
    const { lastSeq, runId } = summary;
    const records: TrajectoryRecord[] = [];
    for await (const record of store.readRun(runId, { limit: HEAD_RECORDS })) records.push(record);
    const fromSeq = Math.max((records.at(-1)?.seq ?? -1) + 1, lastSeq - TAIL_RECORDS);
    for await (const record of store.readRun(runId, { fromSeq })) records.push(record);
    return runStatus(summary, records, nowMs);
  } finally {
    await store.close();
  }
}

/** The configuration takes longer to load than all the rest: only where there is one. */
async function storeOf(
  projectFolder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ResolvedStore> {
  const own = userFolders({ env }).config;
  const isConfigured =
    findProject(projectFolder).files.length > 0 ||
    ['config.json', 'config.ts'].some((name) => existsSync(join(own, name)));
  if (!isConfigured) return { kind: 'sqlite', path: join(projectFolder, '.coxswain', 'runs.db') };
  const { loadConfigSync } = await import('../../config/load-config.ts');
  return loadConfigSync({ projectFolder, env }).resolved.store;
}

interface SessionHints {
  readonly id?: string;
  readonly cwd?: string;
  readonly projectDir?: string;
}

function sessionOf(stdin: string): SessionHints {
  let input: unknown;
  try {
    input = JSON.parse(stdin);
  } catch {
    // Somebody else's input, or none.
    return {};
  }
  if (!isJsonObject(input)) return {};
  const { cwd, session_id: id, workspace } = input;
  const projectDir = isJsonObject(workspace) ? workspace['project_dir'] : undefined;
  return {
    ...(typeof id === 'string' && id !== '' && { id }),
    ...(typeof cwd === 'string' && { cwd }),
    ...(typeof projectDir === 'string' && { projectDir }),
  };
}
