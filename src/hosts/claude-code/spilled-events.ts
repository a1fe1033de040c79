import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join, resolve } from 'node:path';

import { hashText } from '../../core/base/hash.ts';
import { stateRoot } from '../../core/node/state-places.ts';
import { hasCode } from '../../core/base/error.ts';
import { makeFolderSync, syncFolder } from '../../stores/collect-garbage.ts';
import { shownAddress, storePath } from '../../stores/store-address.ts';

/**
 * Events that the store did not take in time, one file each in `runs.db-spills`, such as
 * `000001763808123456-9f1c2a3b0d4e5f60-4711-k3v9x1.spill`: arrival (Unix milliseconds), hash of the session id,
 * process, random part. Events are folded in the order of names. A file ends in `.writing` until it is written and
 * synced. Its first line has the CRC-32 of the bytes after it (eight digits) and their number.
 */

/** Begins the session ids of test events of `coxswain doctor`, which are recorded at once or not at all. */
export const CANARY_PREFIX = 'coxswain-doctor-';

export interface SpilledEvent {
  readonly id: string;
  readonly path: string;
  readonly arrivedAtMs: number;
}

export interface SpillCounts {
  readonly waiting: number;
  readonly damaged: number;
  /** Events that every store would reject. */
  readonly refused: number;
  readonly folders: readonly string[];
}

const EXTENSION = '.spill';
const UNFINISHED = '.writing';
const TIME_DIGITS = 18;
/** An unfinished file older than this belongs to a killed process. */
const UNFINISHED_LIMIT_MS = 60_000;
/** Above this or the size limit, no more events are written: the store needs a repair by its owner. */
const MAX_FILES = 10_000;
const MAX_FOLDER_BYTES = 1024 * 1024 * 1024;
/** Maximum size of one file. Standard input is at most 64 MB, and escaping makes it longer. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;
/** Open flags that do not follow links and do not block on a named pipe. */
const GUARDED = process.platform === 'win32' ? 0 : constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** For a database it is in the user's state folder, and its name does not depend on the password. */
export function spillFolderOf(storeAddress: string): string {
  const path = storePath(storeAddress);
  return path === undefined ? fallbackFolderOf(storeAddress) : `${resolve(path)}-spills`;
}

/** The folder in the user's state folder, which may be on another disk. For files, it is used if the first one fails. */
function fallbackFolderOf(storeAddress: string): string {
  const path = storePath(storeAddress);
  const [kind, name] = path === undefined ? ['postgres', shownAddress(storeAddress)] : ['file', resolve(path)];
  return join(stateRoot({ env: process.env }), `${kind}-${hashText(name)}-spills`);
}

function foldersOf(storeAddress: string): ReadonlySet<string> {
  return new Set([spillFolderOf(storeAddress), fallbackFolderOf(storeAddress)]);
}

function filesOf(storeAddress: string): readonly { readonly folder: string; readonly name: string }[] {
  const files = [...foldersOf(storeAddress)].flatMap((folder) =>
    existsSync(folder) ? readdirSync(folder).map((name) => ({ folder, name })) : [],
  );
  return files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

interface SpillableEvent {
  readonly sessionId: string;
  readonly arrivedAtMs: number;
  readonly json: object;
}

/**
 * Mode 0600, next to the store, or in the user's state folder if that fails, for example on a full disk. No link is
 * followed. The event then survives a power failure.
 *
 * @throws a file system error; an error for a link, 10,000 files or 1 GiB
 */
export function spillEvent(storeAddress: string, event: SpillableEvent): void {
  const { arrivedAtMs, json, sessionId } = event;
  const time = String(Math.max(0, Math.floor(arrivedAtMs))).padStart(TIME_DIGITS, '0');
  const random = Math.random().toString(36).slice(2, 12);
  // A file with the same name in both folders is one event.
  const name = `${time}-${hashText(sessionId)}-${process.pid}-${random}`;
  const body = Buffer.from(`${JSON.stringify(json)}\n`);
  const failures: unknown[] = [];
  for (const folder of foldersOf(storeAddress)) {
    try {
      writeSpillFile(folder, name, body);
      return;
    } catch (error) {
      failures.push(error);
    }
  }
  throw failures[0];
}

function writeSpillFile(folder: string, name: string, body: Buffer): void {
  makeFolderSync(folder);
  if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} is a link; remove it`);
  requireSpace(folder);
  const path = join(folder, name);
  const unfinished = `${path}${UNFINISHED}`;
  const fd = openSync(unfinished, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | GUARDED, 0o600);
  try {
    writeAllBytes(fd, Buffer.concat([Buffer.from(`${checksumOf(body)} ${body.length}\n`), body]));
    fdatasyncSync(fd);
    renameSync(unfinished, `${path}${EXTENSION}`);
  } catch (error) {
    unlinkSync(unfinished);
    throw error;
  } finally {
    closeSync(fd);
  }
  syncFolder(folder);
}

/** In the order in which they are recorded. Throws a file system error; a missing folder counts as empty. */
export function spilledEvents(storeAddress: string, sessionId?: string): readonly SpilledEvent[] {
  const sessionHash = sessionId === undefined ? undefined : hashText(sessionId);
  return filesOf(storeAddress).flatMap(({ folder, name }) => {
    const [, hash] = name.split('-');
    if (!name.endsWith(EXTENSION) || (sessionHash !== undefined && sessionHash !== hash)) return [];
    return [{ id: name.slice(0, -EXTENSION.length), path: join(folder, name), arrivedAtMs: arrivalTimeOf(name) }];
  });
}

/** Incomplete files of killed processes no longer count as waiting events. Returns the number of renamed files. */
export function setUnfinishedAside(storeAddress: string, nowMs: number): number {
  const unfinished = filesOf(storeAddress).filter(
    ({ name }) => name.endsWith(UNFINISHED) && nowMs - arrivalTimeOf(name) > UNFINISHED_LIMIT_MS,
  );
  for (const { folder, name } of unfinished) renameFile(join(folder, name), UNFINISHED, 'damaged');
  return unfinished.length;
}

function arrivalTimeOf(name: string): number {
  return Number(name.slice(0, TIME_DIGITS)) || 0;
}

export function countSpills(storeAddress: string): SpillCounts {
  const counts = { waiting: 0, damaged: 0, refused: 0 };
  let files: ReturnType<typeof filesOf> = [];
  try {
    files = filesOf(storeAddress);
  } catch {
    // A folder belongs to another user.
  }
  for (const { name } of files) {
    if (name.endsWith(EXTENSION)) counts.waiting += 1;
    else if (name.endsWith('.damaged')) counts.damaged += 1;
    else if (name.endsWith('.refused')) counts.refused += 1;
  }
  return { ...counts, folders: [...new Set(files.map(({ folder }) => folder))] };
}

/** @returns `gone` if another process has recorded the event; `damaged` if no hook of this user wrote it */
export function readSpilledEvent({ path }: SpilledEvent): Buffer | 'gone' | 'damaged' {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | GUARDED);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'gone';
    if (hasCode(error, 'ELOOP')) return 'damaged';
    throw error;
  }
  try {
    const stats = fstatSync(fd);
    const isOurs = process.getuid === undefined || (stats.uid === process.getuid() && (stats.mode & 0o077) === 0);
    if (!stats.isFile() || !isOurs || stats.size > MAX_FILE_BYTES) return 'damaged';
    const bytes = readFileSync(fd);
    const headEnd = bytes.indexOf('\n');
    const body = bytes.subarray(headEnd + 1);
    return bytes.toString('latin1', 0, headEnd) === `${checksumOf(body)} ${body.length}` ? body : 'damaged';
  } finally {
    closeSync(fd);
  }
}

export function isStillSpilled({ path }: SpilledEvent): boolean {
  return existsSync(path);
}

/** Deletes the file of a recorded event. If a power failure restores the file, the event is recognised by its id. */
export function removeSpilledEvent({ path }: SpilledEvent): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

/** Renames an event that cannot be recorded. It then does not block other events, and it can be inspected. */
export function setSpilledEventAside({ path }: SpilledEvent, why: 'damaged' | 'refused'): void {
  renameFile(path, EXTENSION, why);
}

function renameFile(path: string, extension: string, why: string): void {
  try {
    renameSync(path, `${path.slice(0, -extension.length)}.${why}`);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

function requireSpace(folder: string): void {
  const names = readdirSync(folder);
  let bytes = 0;
  for (const name of names) bytes += lstatSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  if (names.length < MAX_FILES && bytes < MAX_FOLDER_BYTES) return;
  throw new Error(`${folder} is full (${names.length} files, ${bytes} bytes)`);
}

function writeAllBytes(fd: number, bytes: Buffer): void {
  for (let writtenBytes = 0; writtenBytes < bytes.length;) {
    const count = writeSync(fd, bytes, writtenBytes);
    if (count === 0) throw new Error(`only ${writtenBytes} of ${bytes.length} bytes could be written`);
    writtenBytes += count;
  }
}

/** Computes the checksum. `node:zlib` takes a millisecond to load, so it is loaded only when an event is spilled. */
function checksumOf(bytes: Buffer): string {
  return process.getBuiltinModule('node:zlib').crc32(bytes).toString(16).padStart(8, '0');
}
