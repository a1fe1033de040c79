import { lstatSync, type Stats } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';

import { realPath } from '../../stores/git-index.ts';

/** Files that SQLite creates next to a database. */
const SIDE_FILES = ['-wal', '-shm', '-journal'] as const;

/**
 * Returns true if a write to this path would change a file outside of the folder or a file of git. Checks the path itself, links
 * in the path (also dangling links), and links at the paths of SQLite's additional files.
 *
 * @param path  an absolute path; need not exist
 * Cost: up to six file system calls if the path exists.
 */
function leadsOutside(folder: string, path: string): boolean {
  const realFolder = realPath(folder);
  const realFile = realTarget(path);
  if (realFolder === undefined || realFile === undefined || !isInside(realFolder, realFile)) return true;
  return SIDE_FILES.some((suffix) => statOf(path + suffix)?.isSymbolicLink() === true);
}

/** Returns true if a path inside the folder leads outside through a link. */
export function isLinkedOutside(folder: string, path: string): boolean {
  return isInside(folder, path) && leadsOutside(folder, path);
}

function isInside(folder: string, path: string): boolean {
  const steps = relative(folder, path);
  if (steps === '' || isAbsolute(steps)) return false;
  const names = steps.split(sep);
  return names[0] !== '..' && !names.some((name) => name.toLowerCase() === '.git');
}

/** Returns the real path, including the part that does not exist yet; undefined for a dangling link. */
function realTarget(path: string): string | undefined {
  const missingParts: string[] = [];
  for (let current = path; ; current = dirname(current)) {
    if (statOf(current) !== undefined) {
      const realFolder = realPath(current);
      return realFolder === undefined ? undefined : join(realFolder, ...missingParts);
    }
    if (dirname(current) === current) return undefined;
    missingParts.unshift(basename(current));
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
