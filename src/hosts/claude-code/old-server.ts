import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { stateFile, stateFolder, type Environment } from '../../core/node/state-places.ts';

/**
 * A resident server of earlier versions answered hooks on a loopback port: while it was down, any program on that port
 * received the events, so it was removed.
 */

/** What the user of such a server reads at the start of a session. */
export const OLD_SERVER_TEXT =
  'the server of http hooks was removed, because another program can take its port; run coxswain init claude-code, which replaces such hooks';

/** Returns true if an earlier version set up a server for the project, and `init` has not run since. */
export function hasOldServer(projectFolder: string, env: Environment): boolean {
  return existsSync(stateFile('oldServer', { env, projectFolder }));
}

/** Removes the files of such a server. A server of the earlier version that runs ends within 30 seconds, because they are gone. */
export function removeOldServer(projectFolder: string, env: Environment): void {
  const owner = { env, projectFolder };
  for (const file of [stateFile('oldServer', owner), join(stateFolder(owner), 'serve.pid')])
    rmSync(file, { force: true });
}
