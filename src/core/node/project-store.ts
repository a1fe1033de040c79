import { basename, dirname, join } from 'node:path';

import { projectIdentity } from './git-folder.ts';
import { makeOwnFolder } from './guarded-file.ts';
import { hashText } from '../base/hash.ts';
import { dataRoot, type StatePlaces } from './state-places.ts';

const MAX_NAME_CHARS = 40;

/**
 * Returns the file of a project's runs. It is in the user's data folder, so no repository can contain it, and deleting a work
 * tree does not delete runs. All work trees of a repository share it. Its name is the name of the project's folder and a
 * 64-bit hash of its path. The file may not exist.
 *
 * Cost: one `lstat` per folder up to the repository.
 */
export function projectStoreFile(projectFolder: string, places: StatePlaces): string {
  const identity = projectIdentity(projectFolder);
  const name = basename(identity, '.git')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^\.+/, '')
    .slice(0, MAX_NAME_CHARS);
  return join(dataRoot(places), `${name === '' ? 'project' : name}-${hashText(identity)}.db`);
}

/** Returns true for a file that `projectStoreFile` can return: runs there may be deleted to limit its size. */
export function isProjectStore(file: string, places: StatePlaces): boolean {
  return dirname(file) === dataRoot(places);
}

/**
 * Creates the data folder for a store in it, with mode 0700. Does nothing for a store elsewhere.
 *
 * @throws CoxswainError as `makeOwnFolder`
 */
export function makeDataFolder(file: string, places: StatePlaces): void {
  if (isProjectStore(file, places)) makeOwnFolder(dirname(file), dirname(file));
}
