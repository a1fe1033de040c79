import { loadConfigSync } from '../../hosts/config/load-config.ts';
import type { LoadedConfig } from '../../hosts/config/loaded-config.ts';
import { projectFolderOf } from '../../core/node/project-folder.ts';

/**
 * Returns the project folder and its configuration, using the same rules as the hook. @throws CoxswainError the errors of
 * `loadConfigSync`
 */
export function loadProject(): { readonly projectFolder: string; readonly loaded: LoadedConfig } {
  const { env } = process;
  const projectFolder = projectFolderOf({ projectDir: env['CLAUDE_PROJECT_DIR'], cwd: process.cwd() });
  return { projectFolder, loaded: loadConfigSync({ projectFolder, env }) };
}

/** Returns the store address and the project folder. @throws CoxswainError the errors of `loadConfigSync` */
export function projectStore(): { readonly address: string; readonly projectFolder: string } {
  const { loaded, projectFolder } = loadProject();
  return { address: loaded.resolved.store.address, projectFolder };
}
