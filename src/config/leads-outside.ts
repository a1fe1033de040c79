import { lstatSync, type Stats } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';

import { realPath } from '../store/git-index.ts';

/** Files that a sqlite store keeps beside its own. */
const SIDE_FILES = ['-wal', '-shm', '-journal'] as const;

/**
 * True when what is written at a path would end up outside a folder, or among the files of git: by the path itself, or by
 * a link on the way, also one that leads nowhere yet, or one in the place of a file that sqlite keeps beside its own.
 *
 * @param path absolute; nothing needs to be there
 * Cost: up to six look-ups where the path is there.
 */
function leadsOutside(folder: string, path: string): boolean {
  const realFolder = realPath(folder);
  const real = realTarget(path);
  if (realFolder === undefined || real === undefined || !isInside(realFolder, real)) return true;
  return SIDE_FILES.some((suffix) => lstat(path + suffix)?.isSymbolicLink() === true);
}

/** True when a path that is written as one inside a folder leads out of it: by a link that came with the folder. */
export function isLinkedOutside(folder: string, path: string): boolean {
  return isInside(folder, path) && leadsOutside(folder, path);
}

function isInside(folder: string, path: string): boolean {
  const steps = relative(folder, path);
  if (steps === '' || isAbsolute(steps)) return false;
  const names = steps.split(sep);
  return names[0] !== '..' && !names.some((name) => name.toLowerCase() === '.git');
}

/** The real path of what is there, with the rest that is not; undefined for a link that leads nowhere. */
function realTarget(path: string): string | undefined {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    if (lstat(at) !== undefined) {
      const real = realPath(at);
      return real === undefined ? undefined : join(real, ...missing);
    }
    if (dirname(at) === at) return undefined;
    missing.unshift(basename(at));
  }
}

function lstat(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
