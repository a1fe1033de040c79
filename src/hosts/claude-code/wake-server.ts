import { existsSync } from 'node:fs';

import { WAKING_EVENTS } from './init-hooks.ts';
import { serveFileOf } from './serve-settings.ts';

/**
 * Sees to it that the server of a project runs, where it has one. Nothing is even loaded for this where it has none.
 *
 * @returns what is wrong, if anything; never rejects
 */
export async function wakeServer(
  event: string,
  { projectFolder, env }: { readonly projectFolder: string; readonly env: NodeJS.ProcessEnv },
): Promise<string | undefined> {
  if (!WAKING_EVENTS.includes(event) || !existsSync(serveFileOf(projectFolder, env))) return undefined;
  const { ensureServer } = await import('./server-process.ts');
  return ensureServer(projectFolder, { env, renew: event === 'SessionStart' });
}
