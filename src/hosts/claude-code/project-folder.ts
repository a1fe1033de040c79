import { existsSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

/** Sources for the project folder of a session. */
export interface ProjectHints {
  /** `CLAUDE_PROJECT_DIR`, as Claude Code sets it for its hooks. */
  readonly projectDir: string | undefined;
  /** The session's working folder, from the hook's input. */
  readonly cwd: string | undefined;
}

/**
 * The project folder: `projectDir`, else the git work tree around the working folder, else the working folder. Skips paths that
 * are not folders; falls back to the working folder of this process.
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
