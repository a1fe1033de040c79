import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

import { hasCode } from '../../core/base/error.ts';
import { commonFolder, findGit, mayBeTracked } from '../../core/node/git-folder.ts';
import { requireInside } from '../../core/node/guarded-file.ts';
import { realPlace } from '../../core/node/state-places.ts';

export interface IgnoreFile {
  readonly file: string;
  readonly text: string;
  readonly within: string;
}

/**
 * A line in the repository's `info/exclude`. Git is not run: a repository's configuration can name programs to run.
 * Undefined if the line exists, without a repository, or for a tracked file.
 *
 * @param planned  the content that the file is about to have
 * @throws CoxswainError `unsafe-path` for a link
 */
export function ignoreFileFor(file: string, projectFolder: string, planned?: string): IgnoreFile | undefined {
  const project = realPlace(projectFolder);
  const place = findGit(project);
  if (place === undefined) return undefined;
  const realPath = join(project, relative(projectFolder, file));
  if (mayBeTracked(place, realPath)) return undefined;
  const gitFolder = commonFolder(place);
  const exclude = requireInside(gitFolder, join(gitFolder, 'info', 'exclude'));
  const textBefore = planned ?? textOf(exclude);
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
