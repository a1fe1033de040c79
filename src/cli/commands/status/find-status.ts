import { membersOf, jsonOf } from '../../../core/base/json.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { projectStoreFile, projectFolderOf } from '../../../core/node/git-folder.ts';
import { countSpills } from '../../../hosts/claude-code/spilled-events.ts';
import { findProject, userFolders } from '../../../hosts/config/find-config.ts';
import { storePath } from '../../../stores/store-address.ts';
import type { ResolvedStore } from '../../../hosts/config/resolve-config.ts';
import { glanceSqlite, HEAD_RECORDS, TAIL_RECORDS } from '../../../stores/sqlite/sqlite-search.ts';
import { runStatus, type RunStatus } from './run-status.ts';

/** Maximum wait for a locked store in milliseconds, because a status line must be fast. */
const STORE_WAIT_MS = 1_000;

/** Without a session in `stdin`, which Claude Code passes: the most recently active run of this project. */
export async function findStatus(env: NodeJS.ProcessEnv, stdin: string, nowMs: number): Promise<RunStatus | undefined> {
  const session = sessionOf(stdin);
  const projectFolder = projectFolderOf(session.cwd ?? process.cwd(), env['CLAUDE_PROJECT_DIR'] ?? session.projectDir);
  const store = await storeOf(projectFolder, env);
  const path = storePath(store.address);
  const isThere = path === undefined || existsSync(path);
  const status = isThere ? await storedStatus(store, session, nowMs) : undefined;
  const waitingEvents = status === undefined ? 0 : countSpills(store.address).waiting;
  return status && waitingEvents > 0 ? { ...status, waitingEvents } : status;
}

async function storedStatus(
  { address, kind }: ResolvedStore,
  session: SessionHints,
  nowMs: number,
): Promise<RunStatus | undefined> {
  if (kind === 'sqlite') {
    const glance = glanceSqlite(address, session.id);
    return glance && runStatus(glance.summary, glance.records, nowMs);
  }
  const { openStoreReader } = await import('../../../stores/registry/open-store.ts');
  const store = await openStoreReader(address, { waitMs: STORE_WAIT_MS });
  try {
    const { runs } = session.id === undefined ? await store.listRuns() : { runs: [await store.findRun(session.id)] };
    const [summary] = runs
      .filter((run) => run !== undefined)
      .filter(({ depth, format }) => session.id !== undefined || (depth === 0 && format === undefined))
      .toSorted((a, b) => b.lastAtMs - a.lastAtMs);
    if (summary === undefined) return undefined;
    const { lastSeq, runId } = summary;
    const records = await Array.fromAsync(store.readRun(runId, { limit: HEAD_RECORDS }));
    const fromSeq = Math.max((records.at(-1)?.seq ?? -1) + 1, lastSeq - TAIL_RECORDS);
    for await (const record of store.readRun(runId, { fromSeq })) records.push(record);
    return runStatus(summary, records, nowMs);
  } finally {
    await store.close();
  }
}

/** Loads the configuration only if one exists, because loading takes longer than all other steps. */
async function storeOf(
  projectFolder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ResolvedStore> {
  const userFolder = userFolders({ env }).config;
  const isConfigured =
    findProject(projectFolder).files.length > 0 ||
    ['config.json', 'config.ts'].some((name) => existsSync(join(userFolder, name)));
  if (!isConfigured) return { kind: 'sqlite', address: projectStoreFile(projectFolder, { env }) };
  const { loadConfigSync } = await import('../../../hosts/config/load-config.ts');
  return loadConfigSync({ projectFolder, env }).resolved.store;
}

interface SessionHints {
  readonly id?: string;
  readonly cwd?: string;
  readonly projectDir?: string;
}

function sessionOf(stdin: string): SessionHints {
  // The input is empty or does not come from Claude Code if it is no object.
  const input = membersOf(jsonOf(stdin));
  const { cwd, session_id: id, workspace } = input;
  const projectDir = membersOf(workspace)['project_dir'];
  return {
    ...(typeof id === 'string' && id !== '' && { id }),
    ...(typeof cwd === 'string' && { cwd }),
    ...(typeof projectDir === 'string' && { projectDir }),
  };
}
