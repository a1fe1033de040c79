import { existsSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

/** What tells of the project that a session works in. */
export interface ProjectHints {
  /** `CLAUDE_PROJECT_DIR`, as Claude Code sets it for its hooks. */
  readonly projectDir: string | undefined;
  /** The session's working folder, as the hook's input says. */
  readonly cwd: string | undefined;
}

/**
 * The folder of a project: what Claude Code calls so, else the git work tree around the working folder, else that folder.
 * What is no folder is passed over; the last resort is the working folder of this process.
 */
export function projectFolderOf({ projectDir, cwd }: ProjectHints): string {
  if (isFolder(projectDir)) return projectDir;
  const folder = isFolder(cwd) ? cwd : process.cwd();
  return gitRootOf(folder) ?? folder;
}

function gitRootOf(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    // A file in a linked work tree.
    if (existsSync(join(at, '.git'))) return at;
    if (dirname(at) === at) return undefined;
  }
}

function isFolder(path: string | undefined): path is string {
  return path !== undefined && isAbsolute(path) && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
