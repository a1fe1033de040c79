import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { hasCode } from '../../core/base/error.ts';
import { readGuarded } from '../../core/node/guarded-file.ts';
import { isJsonObject, jsonOf } from '../../core/base/json.ts';

export interface OpenSession {
  /** The reason why the session is waiting, in Claude Code's words, for example `permission prompt`. */
  readonly waitingFor?: string;
}

/** From the file per process in `sessions` of `folder`, without killed ones. Undefined without that folder, as in old versions. */
export async function openSessions(folder: string): Promise<ReadonlyMap<string, OpenSession> | undefined> {
  const place = join(folder, 'sessions');
  const names = await readdir(place).catch(() => undefined);
  if (names === undefined) return undefined;
  const open = new Map<string, OpenSession>();
  for (const name of names.filter((one) => /^\d+\.json$/.test(one))) {
    const session = jsonOf(textIn(join(place, name)));
    const { pid, procStart, sessionId, waitingFor } = isJsonObject(session) ? session : {};
    if (typeof pid !== 'number' || typeof sessionId !== 'string' || !(await isRunning(pid, procStart))) continue;
    open.set(sessionId, typeof waitingFor === 'string' ? { waitingFor } : {});
  }
  return open;
}

/** The text of a small regular file; empty for one that was deleted, for a link and for a pipe. */
function textIn(path: string): string {
  try {
    return readGuarded(path, { maxBytes: 65_536, mayBeShared: true })?.toString('utf8') ?? '';
  } catch {
    return '';
  }
}

/** @param startedAt  start time of the process as the system reports it; it detects another process with the same pid */
async function isRunning(pid: number, startedAt: unknown): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // The process exists but belongs to another user.
    return hasCode(error, 'EPERM');
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined || typeof startedAt !== 'string') return true;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie process has ended. The start time is field 22 of the complete line.
  return fields[0] !== 'Z' && fields[19] === startedAt;
}
