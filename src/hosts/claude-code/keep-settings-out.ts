import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';

import { CoxswainError } from '../../base/error.ts';
import { insideFolder } from '../../base/guarded-file.ts';
import { realProject } from '../../base/state-places.ts';
import { hasCode } from '../../store/file-system.ts';
import { commonFolder, findGit, isTracked } from '../../store/git-index.ts';

/** What would keep a file out of git: the file to write, and its whole text. */
export interface IgnoreFile {
  readonly file: string;
  readonly text: string;
  /** As of `ReplaceFileOptions`: git's own folder. */
  readonly within: string;
}

/**
 * How a file of this machine alone is kept out of git: by a line in `info/exclude` of the repository, which is only the user's
 * and never committed. Git itself is not run: a repository's configuration can name programs.
 *
 * @returns undefined where the line is there already, there is no repository, or git tracks the file
 * @throws CoxswainError `invalid-argument` for a file that git tracks and that holds a secret; `unsafe-path` where `info/exclude` is a link
 */
export function ignoreFileFor(file: string, projectFolder: string, holdsSecret: boolean): IgnoreFile | undefined {
  const project = realProject(projectFolder);
  const place = findGit(project);
  if (place === undefined) return undefined;
  const real = join(project, relative(projectFolder, file));
  if (isTracked(place, real)) {
    if (!holdsSecret) return undefined;
    throw new CoxswainError(
      'invalid-argument',
      `git tracks ${file}, and the hooks hold a token; take it out first: git rm --cached ${basename(file)} in ${dirname(file)}`,
      { details: { file } },
    );
  }
  const within = commonFolder(place);
  const exclude = insideFolder(within, join(within, 'info', 'exclude'));
  const before = textOf(exclude);
  const line = `/${relative(place.top, real).split(sep).join('/')}`;
  if (before.split(/\r?\n/).includes(line)) return undefined;
  return { file: exclude, within, text: `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${line}\n` };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  }
}
