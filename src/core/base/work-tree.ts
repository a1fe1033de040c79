/** Work trees in a repository (`app/.worktrees/x`, `app/.claude/worktrees/x`) or beside it (`app.worktrees/x`, `app__worktrees/x`). */
const WORK_TREE = /(?<=[^\\/\s])(?:[\\/]\.(?:claude[\\/])?|\.|__)worktrees[\\/][^\\/\s:'"]+/;

/** The folder of the repository of a path in one of its work trees; else the path. */
export function repositoryOf(path: string): string {
  const at = path.search(WORK_TREE);
  return at < 0 ? path : path.slice(0, at);
}

/** Replaces the first folder of a work tree in a text by that of its repository. */
export function withoutWorkTree(text: string): string {
  return text.includes('worktrees') ? text.replace(WORK_TREE, '') : text;
}
