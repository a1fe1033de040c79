import { existsSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

/** Where the project folder of a session can be read from. */
export interface ProjectHints {
  /** Value of `CLAUDE_PROJECT_DIR`, which Claude Code sets for its hooks. */
  readonly projectDir: string | undefined;
  /** Working folder of the session, from the input of the hook. */
  readonly cwd: string | undefined;
}

/**
 * Returns the project folder. It is `projectDir`, else the git work tree that contains the working folder, else the working
 * folder. Paths that are not folders are skipped. The last fallback is the working folder of this process.
 */
export function projectFolderOf({ projectDir, cwd }: ProjectHints): string {
  if (isFolder(projectDir)) return projectDir;
  const folder = isFolder(cwd) ? cwd : process.cwd();
  return gitRootOf(folder) ?? folder;
}

function gitRootOf(folder: string): string | undefined {
  for (let current = folder; ; current = dirname(current)) {
    // `.git` is a file in a linked work tree.
    if (existsSync(join(current, '.git'))) return current;
    if (dirname(current) === current) return undefined;
  }
}

/** Returns true for an absolute path of a folder. Never throws: a session file names any text as its folder. */
export function isFolder(path: string | undefined): path is string {
  if (path === undefined || !isAbsolute(path)) return false;
  try {
    return statSync(path).isDirectory();
  } catch {
    // Missing, or a text that names no path here: a NUL, a loop of links, too long, a folder of another user.
    return false;
  }
}
