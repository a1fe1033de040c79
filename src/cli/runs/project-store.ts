import { loadConfigSync } from '../../config/load-config.ts';
import { projectFolderOf } from '../../hosts/claude-code/project-folder.ts';

/** Where the store of this project is, and the folder of the project. @throws CoxswainError as `loadConfigSync` */
export function projectStore(): { readonly address: string; readonly projectFolder: string } {
  const { env } = process;
  const projectFolder = projectFolderOf({ projectDir: env['CLAUDE_PROJECT_DIR'], cwd: process.cwd() });
  return { address: loadConfigSync({ projectFolder, env }).resolved.store.address, projectFolder };
}
