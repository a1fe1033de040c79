import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { isJsonObject } from '../../base/json.ts';

/** A session of Claude Code whose process is running. */
export interface OpenSession {
  /** In Claude Code's words, such as `permission prompt`. */
  readonly waitingFor?: string;
}

/**
 * The sessions that Claude Code has open now, by id: it keeps a file for each process in the folder `sessions`. A file of a
 * process that is gone is left over from a session that was killed.
 *
 * @param folder  of Claude Code, such as `~/.claude`
 * @returns undefined where there is no such folder: earlier versions say nothing of this
 */
export async function openSessions(folder: string): Promise<ReadonlyMap<string, OpenSession> | undefined> {
  const place = join(folder, 'sessions');
  const names = await readdir(place).catch(() => undefined);
  if (names === undefined) return undefined;
  const open = new Map<string, OpenSession>();
  for (const name of names.filter((one) => /^\d+\.json$/.test(one))) {
    const session = parsed(await readFile(join(place, name), 'utf8').catch(() => ''));
    const { pid, procStart, sessionId, waitingFor } = isJsonObject(session) ? session : {};
    if (typeof pid !== 'number' || typeof sessionId !== 'string' || !(await isRunning(pid, procStart))) continue;
    open.set(sessionId, typeof waitingFor === 'string' ? { waitingFor } : {});
  }
  return open;
}

/** @param startedAt  as the system counts it: another process may have the number by now */
async function isRunning(pid: number, startedAt: unknown): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process of another user is a process.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined || typeof startedAt !== 'string') return true;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie has ended; field 22 of the whole line is the start.
  return fields[0] !== 'Z' && fields[19] === startedAt;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Half written, or gone meanwhile.
    return undefined;
  }
}
