import { accessSync, constants, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import { CoxswainError, messageOf, hasCode } from '../core/base/error.ts';
import {
  faultOfFile,
  faultOfFolder,
  lookAt,
  readGuarded,
  replaceGuarded,
  unsafePath,
} from '../core/node/guarded-file.ts';
import { isJsonObject } from '../core/base/json.ts';
import {
  folderOfProject,
  makeStateFolder,
  realProject,
  stateFile,
  stateFolder,
  type StateOwner,
  type StatePlaces,
  stateRoot,
} from '../core/node/state-places.ts';
import { findGit, indexStamp, isTracked } from './git-index.ts';
import { makeFolderSync, syncFolder } from './make-folder-sync.ts';
import type { StoreKind } from './store-address.ts';

/** Name of the folder in a project that contains its records. */
export const RECORDS_FOLDER = '.coxswain';

/** The reason why a records folder is refused. Plain JSON. */
export interface RecordsRefusal {
  /** The folder, with links in the project's path resolved. */
  readonly folder: string;
  /**
   * Kind of the reason.
   *
   * - `unmarked`: this user's coxswain did not create the folder here, so it may be part of a downloaded project
   * - `tracked`: git tracks the folder, so the next checkout may replace it
   * - `unsafe`: the folder or a file of its store is a link, has a second name, or belongs to another user
   * - `unwritable`: the folder is missing, and the project is not writable
   */
  readonly kind: 'unmarked' | 'tracked' | 'unsafe' | 'unwritable';
  readonly why: string;
  readonly fix: string;
}

/** The result of examining a records folder. */
export type RecordsVerdict =
  | { readonly kind: 'absent' | 'ours' }
  | { readonly kind: 'refused'; readonly refusal: RecordsRefusal };

/** Suffixes of the files that SQLite and waiting events create next to a database. */
const SIDE_FILES = ['', '-wal', '-shm', '-journal', '-spills'] as const;
const IGNORE_FILE = '.gitignore';
/** The first line of the ignore file. It contains a key, which names a file in the user's state folder. */
const MARK_LINE = /^# coxswain ([0-9a-f]{32})\r?\n/;
const PROJECT_FILE_LIMITS = { maxBytes: 65_536, mayBeShared: true };

/** The file in the state folder that belongs to a key. */
interface SavedMark {
  /** The real path of the folder. */
  readonly folder: string;
  readonly inode: number;
  /** The stamp of git's index when git last did not track the folder. */
  readonly untracked: string;
}

export function isInRecordsFolder(storePath: string): boolean {
  return basename(dirname(storePath)) === RECORDS_FOLDER;
}

/**
 * Checks that a project's records folder is safe to use. This user's coxswain must have created it here. It must not be a
 * link, and git must not track it. The paths of the store must contain only plain files of this user.
 *
 * A random key in the ignore file marks the folder. The key names a file in the user's state folder, which contains the
 * real path and inode of the records folder. A repository cannot know the key, and a copy of the folder has another inode.
 *
 * @param folder  absolute: `.coxswain` in a project
 *
 * Cost: about 15 file system calls. After git has written its index, the index is also read.
 */
export function examineRecords(folder: string, places: StatePlaces): RecordsVerdict {
  const place = resolvePlace(folder);
  try {
    return examinePlace(place, places);
  } catch (error) {
    return refuse(place, 'unsafe', messageOf(error));
  }
}

function examinePlace(place: RecordsPlace, places: StatePlaces): RecordsVerdict {
  const { path } = place;
  const facts = lookAt(path);
  if (facts === undefined) return absentVerdict(place);
  const fault = faultOfFolder(facts);
  if (fault !== undefined) return refuse(place, 'unsafe', fault);
  const key = readKey(path);
  const owner = { ...places, projectFolder: place.project };
  const mark =
    key === undefined ? undefined : readMark(join(folderOfProject(stateRoot(places), place.project), markName(key)));
  const git = findGit(place.project);
  const indexState = git === undefined ? '' : indexStamp(git);
  if (git !== undefined && indexState !== '' && indexState !== mark?.untracked && isTracked(git, path)) {
    return refuse(place, 'tracked', 'git tracks it, so a checkout can replace the records');
  }
  if (key === undefined || mark === undefined || mark.folder !== path || mark.inode !== facts.ino) {
    // The next writer replaces an empty folder by a marked folder.
    if (readdirSync(path).length === 0) return absentVerdict(place);
    return refuse(place, 'unmarked', 'your coxswain did not create it here, so it may have come with the project');
  }
  const storeFault = findStoresFault(path);
  if (storeFault !== undefined) return refuse(place, 'unsafe', storeFault);
  // Saving the stamp avoids reading the index at each event. A failure to save it is harmless.
  if (mark.untracked !== indexState) ignoreErrors(() => writeMark(owner, key, { ...mark, untracked: indexState }));
  return { kind: 'ours' };
}

/** Returns `absent`, or a refusal if the project is not writable. A project from an archive may not be writable. */
function absentVerdict(place: RecordsPlace): RecordsVerdict {
  try {
    accessSync(place.project, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].some((code) => hasCode(error, code))) {
      return refuse(place, 'unwritable', 'it is missing, and the project is not writable');
    }
    // A writer creates a missing project folder.
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  return { kind: 'absent' };
}

function ignoreErrors(action: () => void): void {
  try {
    action();
  } catch {
    // The next process tries again.
  }
}

/** Returns the first file in a records folder that must not be opened, with the reason. */
function findStoresFault(folder: string): string | undefined {
  return findStoreFault(join(folder, 'runs.db')) ?? findStoreFault(join(folder, 'runs'));
}

/** Checks one store: a SQLite file and the files next to it, or a folder of JSON lines. */
function findStoreFault(path: string): string | undefined {
  for (const suffix of SIDE_FILES) {
    const facts = lookAt(path + suffix);
    if (facts === undefined) continue;
    const fault = facts.isDirectory() ? faultOfFolder(facts) : faultOfFile(facts);
    if (fault !== undefined) return `${basename(path)}${suffix}: ${fault}`;
    if (facts.isDirectory()) return undefined;
  }
  return undefined;
}

/**
 * Creates a missing records folder with its mark.
 *
 * @returns the result of `examineRecords`, never `absent`
 * @throws CoxswainError "input-io" or "unsafe-path" if the user's state folder cannot be written; errors of the file system in the
 *   project
 */
export function makeRecords(folder: string, places: StatePlaces): RecordsVerdict {
  const verdict = examineRecords(folder, places);
  if (verdict.kind !== 'absent') return verdict;
  const place = resolvePlace(folder);
  const key = createKey();
  // The folder is renamed once it is complete. If several processes create it at the same time, one succeeds.
  const temporaryFolder = `${place.path}-${key}`;
  makeFolderSync(place.project);
  mkdirSync(temporaryFolder, { mode: 0o700 });
  const owner = { ...places, projectFolder: place.project };
  try {
    writeFileSync(join(temporaryFolder, IGNORE_FILE), markLine(key) + '*\n', { flag: 'wx', mode: 0o600 });
    recordMark(owner, key, temporaryFolder, place.path);
    renameSync(temporaryFolder, place.path);
    syncFolder(place.path);
    syncFolder(place.project);
  } catch (error) {
    rmSync(temporaryFolder, { recursive: true, force: true });
    rmSync(join(stateFolder(owner), markName(key)), { force: true });
    const verdictAfterFailure = examineRecords(folder, places);
    if (verdictAfterFailure.kind !== 'absent') return verdictAfterFailure;
    throw error;
  }
  return examineRecords(folder, places);
}

/**
 * Marks an existing records folder as this user's.
 *
 * @throws CoxswainError "unsafe-path" if it is a link, tracked by git, or contains links; "input-io" if it is missing or the mark
 *   cannot be written
 */
export function adoptRecords(folder: string, places: StatePlaces): void {
  const place = resolvePlace(folder);
  const verdict = examineRecords(folder, places);
  if (verdict.kind === 'ours') return;
  if (verdict.kind !== 'refused') {
    throw new CoxswainError('input-io', `${place.path}: there is no records folder to accept`);
  }
  const { kind, why, fix } = verdict.refusal;
  if (kind !== 'unmarked') throw unsafePath(place.path, `${why}; ${fix}`);
  const fault = findStoresFault(place.path);
  if (fault !== undefined) throw unsafePath(place.path, fault);
  const ignorePath = join(place.path, IGNORE_FILE);
  const ignoreText = readGuarded(ignorePath, PROJECT_FILE_LIMITS)?.toString('utf8') ?? '*\n';
  const key = createKey();
  const owner = { ...places, projectFolder: place.project };
  replaceGuarded(ignorePath, markLine(key) + ignoreText.replace(MARK_LINE, ''));
  recordMark(owner, key, place.path, place.path);
}

/**
 * Checks the records folder of a store that the user named for links.
 *
 * @param storePath  not checked outside of a records folder
 * @returns true if the records folder is missing
 * @throws CoxswainError "unsafe-path" for a link, a hard link or a file of another user
 */
export function refuseLinks(storePath: string): boolean {
  const path = resolve(storePath);
  if (!isInRecordsFolder(path)) return false;
  // Links above the folder belong to the user and are allowed.
  const folder = dirname(path);
  const facts = lookAt(folder);
  if (facts === undefined) return true;
  const fault = faultOfFolder(facts) ?? findStoreFault(path);
  if (fault !== undefined) throw unsafePath(folder, fault);
  return false;
}

/**
 * Creates a missing records folder for a writer of the store that the user named. Marks the folder if possible.
 *
 * @throws CoxswainError as `refuseLinks`
 */
export function openRecords(storePath: string, places: StatePlaces): void {
  // If a program may write only in its project, marking fails, but the store is still created.
  if (refuseLinks(storePath)) ignoreErrors(() => void makeRecords(dirname(resolve(storePath)), places));
}

/** Creates the error of a command whose records folder is refused. */
export function refusalError({ folder, why, fix }: RecordsRefusal): CoxswainError {
  return new CoxswainError('unsafe-path', `${folder} is refused: ${why}. ${fix}`, { details: { folder } });
}

interface RecordsPlace {
  /** Real path of the parent folder. */
  readonly project: string;
  readonly path: string;
}

function resolvePlace(folder: string): RecordsPlace {
  const project = realProject(dirname(folder));
  return { project, path: join(project, basename(folder)) };
}

function refuse({ project, path }: RecordsPlace, kind: RecordsRefusal['kind'], why: string): RecordsVerdict {
  return { kind: 'refused', refusal: { folder: path, kind, why, fix: FIXES[kind](project) } };
}

const FIXES: Readonly<Record<RecordsRefusal['kind'], (project: string) => string>> = {
  unmarked: (project) =>
    `If the records are yours (moved, restored, or from another home folder), run: coxswain trust --records ${project}; otherwise delete the folder.`,
  tracked: () => `Take it out of git (git rm -r --cached ${RECORDS_FOLDER}), or delete it.`,
  unwritable: () => 'Make the project writable; or name a folder elsewhere as "store" in your own configuration.',
  unsafe: () => 'Delete it, or move it away; a folder elsewhere can be named as "store" in your own configuration.',
};

function markLine(key: string): string {
  return `# coxswain ${key}\n`;
}

function markName(key: string): string {
  return `mark-${key}.json`;
}

function readKey(folder: string): string | undefined {
  return MARK_LINE.exec(readGuarded(join(folder, IGNORE_FILE), PROJECT_FILE_LIMITS)?.toString('latin1') ?? '')?.[1];
}

/** @param currentPath  the folder's current path; a rename keeps the inode */
function recordMark(owner: StateOwner, key: string, currentPath: string, folder: string): void {
  writeMark(owner, key, { folder, inode: lookAt(currentPath)?.ino ?? -1, untracked: '' });
}

function writeMark(owner: StateOwner, key: string, mark: SavedMark): void {
  const folder = makeStateFolder(owner);
  replaceGuarded(join(folder, markName(key)), `${JSON.stringify(mark)}\n`, { isDurable: mark.untracked === '' });
  // After a power cut, the folder must not exist without its mark.
  if (mark.untracked === '') syncFolder(folder);
}

/** @returns undefined for a missing or damaged mark */
function readMark(file: string): SavedMark | undefined {
  const bytes = readGuarded(file);
  if (bytes === undefined) return undefined;
  try {
    const json: unknown = JSON.parse(bytes.toString('utf8'));
    if (!isJsonObject(json)) return undefined;
    const { folder, inode, untracked } = json;
    if (typeof folder !== 'string' || typeof inode !== 'number' || typeof untracked !== 'string') return undefined;
    return { folder, inode, untracked };
  } catch {
    // A full disk may have truncated the file. The user can accept the folder again.
    return undefined;
  }
}

function createKey(): string {
  return Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(16))).toString('hex');
}

interface NamedStore {
  readonly kind: StoreKind;
  readonly address: string;
}

/** The store to record into. If it replaces the configured store, it includes the reason. */
export interface GuardedStore<Store> {
  readonly store: Store;
  readonly refusal?: RecordsRefusal;
}

/**
 * Returns the configured store. While its records folder is refused, returns a store in the user's state folder, so that no
 * record is lost.
 */
export function guardStore(store: NamedStore, places: StatePlaces): GuardedStore<NamedStore> {
  if (store.kind !== 'sqlite' || !isInRecordsFolder(store.address)) return { store };
  const folder = dirname(store.address);
  const verdict = examineRecords(folder, places);
  if (verdict.kind !== 'refused') return { store };
  const address = stateFile('fallbackStore', { ...places, projectFolder: dirname(folder) });
  return { store: { kind: 'sqlite', address }, refusal: verdict.refusal };
}
