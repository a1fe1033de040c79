import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

import { hasCode } from '../../core/base/error.ts';
import { commonFolder, findGit, mayBeTracked } from '../../core/node/git-folder.ts';
import { requireInside } from '../../core/node/guarded-file.ts';
import { realProject } from '../../core/node/state-places.ts';

/** An ignore file to write, with its complete text. */
export interface IgnoreFile {
  readonly file: string;
  readonly text: string;
  /** The git folder; see `ReplaceFileOptions`. */
  readonly within: string;
}

/**
 * Keeps a file out of git with a line in the repository's `info/exclude`, which is never committed. It does not run git,
 * because a repository's configuration can name programs that git runs.
 *
 * @returns undefined if the line exists, if there is no repository, or if git tracks the file
 * @throws CoxswainError `unsafe-path` if `info/exclude` is a link
 */
export function ignoreFileFor(file: string, projectFolder: string): IgnoreFile | undefined {
  const project = realProject(projectFolder);
  const place = findGit(project);
  if (place === undefined) return undefined;
  const realPath = join(project, relative(projectFolder, file));
  if (mayBeTracked(place, realPath)) return undefined;
  const gitFolder = commonFolder(place);
  const exclude = requireInside(gitFolder, join(gitFolder, 'info', 'exclude'));
  const textBefore = textOf(exclude);
  const line = `/${relative(place.top, realPath).split(sep).join('/')}`;
  if (textBefore.split(/\r?\n/).includes(line)) return undefined;
  return {
    file: exclude,
    within: gitFolder,
    text: `${textBefore}${textBefore === '' || textBefore.endsWith('\n') ? '' : '\n'}${line}\n`,
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  }
}
