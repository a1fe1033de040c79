import { existsSync } from 'node:fs';

import type { HostEvent } from '../../adapters/host/host-event.ts';
import { serveFileOf } from './serve-settings.ts';

/**
 * Starts the server of a project when a session starts or a prompt is submitted. Loads no further module if the project has no
 * server.
 *
 * @returns the problem, if any; never rejects
 */
export async function wakeServer(
  event: HostEvent['kind'],
  { projectFolder, env }: { readonly projectFolder: string; readonly env: NodeJS.ProcessEnv },
): Promise<string | undefined> {
  if ((event !== 'session_started' && event !== 'prompted') || !existsSync(serveFileOf(projectFolder, env)))
    return undefined;
  const { ensureServer } = await import('./server-process.ts');
  return ensureServer(projectFolder, { env, renew: event === 'session_started' });
}
