import { basename, dirname, join, relative, resolve, sep, isAbsolute } from 'node:path';
import { realpathSync, existsSync, statSync } from 'node:fs';
import { lookAt, readGuarded, unsafePath, makeOwnFolder } from './guarded-file.ts';
import { hashText } from '../base/hash.ts';
import { repositoryOf } from '../base/work-tree.ts';
import { dataRoot, namesIn, realPlace, type StatePlaces } from './state-places.ts';

/** A git work tree. It is found without running git, because the configuration of a repository can name programs to run. */
interface GitPlace {
  readonly top: string;
  /** `.git`, or the folder that the `.git` file of a submodule or linked work tree names. */
  readonly folder: string;
}

/** A pointer file has one line. The configuration of a submodule has a few lines. */
const POINTER = { maxBytes: 65_536, mayBeShared: true } as const;
/** The indexes of the largest repositories have about 100 MB. */
const INDEX = { maxBytes: 256 * 1024 * 1024, mayBeShared: true } as const;

/** As git does, by the nearest `.git` in the folder or above it. Cost: one `lstat` per folder. */
export function findGit(folder: string): GitPlace | undefined {
  for (let top = folder; ; top = dirname(top)) {
    const dotGit = join(top, '.git');
    if (lookAt(dotGit) !== undefined) {
      const target = /^gitdir: ([^\r\n]+)/.exec(pointerIn(dotGit) ?? '')?.[1];
      return { top, folder: target === undefined ? dotGit : resolve(top, target) };
    }
    if (dirname(top) === top) return undefined;
  }
}

/**
 * Contains `info/exclude`. A clone or an archive may point to another repository, so both folders must point to each
 * other: a linked work tree by `gitdir`, a submodule by `core.worktree`. Git itself checks neither.
 *
 * @throws CoxswainError "unsafe-path"
 */
export function commonFolder({ top, folder }: GitPlace): string {
  const dotGit = join(top, '.git');
  const realFolder = realPath(folder);
  const commondirText = pointerIn(join(folder, 'commondir'));
  if (lookAt(dotGit)?.isDirectory() === true) {
    if (commondirText === undefined) return folder;
    throw unsafePath(folder, 'it is a work tree’s own .git and names another one (commondir)');
  }
  if (commondirText !== undefined) {
    const sharedFolder = realPath(resolve(folder, commondirText.trim()));
    const isItsTree =
      realFolder !== undefined &&
      sharedFolder === dirname(dirname(realFolder)) &&
      basename(dirname(realFolder)) === 'worktrees';
    const backPath = pointerIn(join(folder, 'gitdir'))?.trim();
    if (isItsTree && backPath !== undefined && realPath(resolve(folder, backPath)) === realPath(dotGit))
      return sharedFolder;
  } else {
    const backPath = /^[ \t]*worktree[ \t]*=[ \t]*"?(.*?)"?[ \t]*$/m.exec(pointerIn(join(folder, 'config')) ?? '')?.[1];
    if (backPath !== undefined && realPath(resolve(folder, backPath)) === realPath(top)) return folder;
  }
  throw unsafePath(folder, `${dotGit} points to it, and it does not point back`);
}

/**
 * The repository's main work tree, for all its work trees; a bare repository; or the folder itself. Links are resolved.
 * A `.git` that cannot be read, or points to a repository that does not point back, identifies its own folder.
 */
function projectIdentity(folder: string): string {
  const real = realPlace(folder);
  let top = real;
  try {
    const git = findGit(real);
    if (git === undefined) return real;
    top = git.top;
    const shared = commonFolder(git);
    return basename(shared) === '.git' ? dirname(shared) : shared;
  } catch {
    return top;
  }
}

export function projectAt(folder: string | undefined): string | undefined {
  if (folder === undefined) return undefined;
  // A work tree belongs to its repository, also one that was removed: agent programs make one per session.
  if (isFolder(folder)) return projectIdentity(projectFolderOf(folder));
  return repositoryOf(folder);
}

/** Searched for bytes, so a longer path counts too; version 4 of the index has only ends of paths. Cost: 2 ms for 10,000 files. */
export function mayBeTracked({ top, folder }: GitPlace, path: string): boolean {
  const name = relative(top, path).split(sep).join('/');
  const sharedIndexes = namesIn(folder).filter((file) => file.startsWith('sharedindex.'));
  return ['index', ...sharedIndexes].some((file) => {
    const bytes = contentOf(join(folder, file), INDEX);
    if (bytes === undefined) return false;
    return bytes.includes(name) || (bytes.length > 8 && bytes.readUInt32BE(4) === 4 && bytes.includes(name.slice(-12)));
  });
}

export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function pointerIn(file: string): string | undefined {
  return contentOf(file, POINTER)?.toString('utf8');
}

function contentOf(file: string, limits: typeof POINTER | typeof INDEX): Buffer | undefined {
  try {
    return readGuarded(file, limits);
  } catch {
    // A folder, a link, a pipe, or a file of another user.
    return undefined;
  }
}

/** `projectDir`, else the git work tree of the working folder, else the working folder, else that of this process. */
export function projectFolderOf(cwd: string | undefined, projectDir?: string): string {
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
function isFolder(path: string | undefined): path is string {
  if (path === undefined || !isAbsolute(path)) return false;
  try {
    return statSync(path).isDirectory();
  } catch {
    // Missing, or a text that names no path here: a NUL, a loop of links, too long, a folder of another user.
    return false;
  }
}

const MAX_NAME_CHARS = 40;

/** In the user's data folder, shared by all work trees, named after the project's folder and a 64-bit hash of its path. May not exist. */
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

/** Mode 0700. Does nothing for a store elsewhere. Throws CoxswainError as `makeOwnFolder`. */
export function makeDataFolder(file: string, places: StatePlaces): void {
  if (isProjectStore(file, places)) makeOwnFolder(dirname(file), dirname(file), 'store-io');
}
