import { loadConfigSync } from '../../config/load-config.ts';
import type { LoadedConfig } from '../../config/loaded-config.ts';
import { projectFolderOf } from '../../hosts/claude-code/project-folder.ts';

/** The folder and the configuration of this project, as the hook finds them. @throws CoxswainError as `loadConfigSync` */
export function loadProject(): { readonly projectFolder: string; readonly loaded: LoadedConfig } {
  const { env } = process;
  const projectFolder = projectFolderOf({ projectDir: env['CLAUDE_PROJECT_DIR'], cwd: process.cwd() });
  return { projectFolder, loaded: loadConfigSync({ projectFolder, env }) };
}

/** The store address and the folder of this project. @throws CoxswainError as `loadConfigSync` */
export function projectStore(): { readonly address: string; readonly projectFolder: string } {
  const { loaded, projectFolder } = loadProject();
  return { address: loaded.resolved.store.address, projectFolder };
}
