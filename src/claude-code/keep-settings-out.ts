import { spawnSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

import { CoxswainError } from '../base/error.ts';
import { hasCode } from '../store/file-system.ts';

/** What would keep a file out of git: the file to write, and its whole text. */
export interface IgnoreFile {
  readonly file: string;
  readonly text: string;
}

/**
 * How a file that holds a secret is kept out of git: by a line in `info/exclude` of the repository, which is nobody else's and
 * never committed.
 *
 * @returns undefined where it is out already, or there is no repository
 * @throws CoxswainError `invalid-argument` for a file that git tracks
 */
export function ignoreFileFor(file: string, projectFolder: string): IgnoreFile | undefined {
  const top = git(projectFolder, 'rev-parse', '--show-toplevel');
  if (top === undefined) return undefined;
  if (git(projectFolder, 'ls-files', '--error-unmatch', '--', file) !== undefined) {
    throw new CoxswainError(
      'invalid-argument',
      `git tracks ${file}, and the hooks hold a token; take it out first: git rm --cached ${basename(file)} in ${dirname(file)}`,
      { details: { file } },
    );
  }
  if (git(projectFolder, 'check-ignore', '-q', '--', file) !== undefined) return undefined;
  const path = git(projectFolder, 'rev-parse', '--git-path', 'info/exclude');
  if (path === undefined) return undefined;
  const exclude = resolve(projectFolder, path);
  const before = textOf(exclude);
  // Git names the folder behind links.
  const place = relative(top, join(realpathSync(projectFolder), relative(projectFolder, file)));
  const line = `/${place.split(sep).join('/')}`;
  return { file: exclude, text: `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${line}\n` };
}

/** What git says; undefined where it refuses, or is not there. */
function git(cwd: string, ...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd, encoding: 'utf8', timeout: 10_000 });
  return status === 0 ? stdout.replace(/\n$/, '') : undefined;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  }
}
