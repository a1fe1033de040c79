import { existsSync } from 'node:fs';

import type { HostEvent } from '../../host/host-event.ts';
import { serveFileOf } from './serve-settings.ts';

/**
 * Sees to it that the server of a project runs, where it has one. Nothing is even loaded for this where it has none.
 *
 * @returns what is wrong, if anything; never rejects
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
