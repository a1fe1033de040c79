import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Something that a process did to files below a folder, or printed. Paths are relative to the folder. */
export type DiskStep =
  | { readonly kind: 'write'; readonly path: string; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly path: string; readonly size: number }
  | { readonly kind: 'open'; readonly path: string }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'sync'; readonly path: string }
  | { readonly kind: 'print'; readonly text: string };

/** Every call by which a process can change a file or make sure of a change. */
const CALLS = [
  'open,openat,creat,mkdir,mkdirat,unlink,unlinkat,rename,renameat,renameat2,link,linkat,write,writev,pwrite64,pwritev',
  'pwritev2,truncate,ftruncate,fallocate,copy_file_range,sendfile,splice,mmap,fsync,fdatasync,sync_file_range,sync,syncfs',
].join(',');

/** Why the calls of a process cannot be traced here; undefined where they can. */
export const noTracing: string | undefined = whyNotTraced();

function whyNotTraced(): string | undefined {
  if (process.platform !== 'linux') return 'strace is for Linux';
  const { error, status } = spawnSync('strace', ['-e', 'trace=fsync', process.execPath, '-e', '0']);
  if (error !== undefined) return 'strace is not installed';
  return status === 0 ? undefined : 'strace may not trace';
}

/**
 * Runs Node on a script to its end and gives what its main thread did to files below `folder`, in order, with every byte.
 *
 * @param script  an ES module, which imports by absolute URLs and finds `args` in `process.argv` from index 1
 * @throws Error for a call whose effect `CutDisk` does not know, and for a script that fails
 */
export function traceScript(script: string, args: readonly string[], folder: string): readonly DiskStep[] {
  const log = join(folder, '..', 'trace');
  const options = ['-o', log, '-y', '-xx', '-s', '16777216', '-e', `trace=${CALLS}`];
  const command = [process.execPath, '--input-type=module', '-e', script, ...args];
  const { status, stderr } = spawnSync('strace', [...options, ...command], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the traced script failed (${status}): ${stderr}`);
  const lines = readFileSync(log, 'latin1').split('\n');
  rmSync(log);
  return lines.flatMap((line) => stepOf(line, folder) ?? []);
}

/** A call in a trace: its name, what stands between its brackets, what it gave. */
const CALL = /^(\w+)\((.*)\) += (-?\d+)/;
const HEX = /"((?:\\x[0-9a-f]{2})*)"/;
const FILE = /^\d+<((?:\\x[0-9a-f]{2})*)>/;

function stepOf(line: string, folder: string): DiskStep | undefined {
  const [, name = '', args = '', gave = ''] = CALL.exec(line) ?? [];
  if (name === '' || Number(gave) < 0) return undefined;
  const file = FILE.exec(args)?.[1];
  const named = HEX.exec(args)?.[1] ?? '';
  if (name === 'write' && args.startsWith('1<')) return { kind: 'print', text: bytesOf(named).toString() };
  const isByPath = file === undefined || name.endsWith('at') || name === 'renameat2';
  if (name === 'mmap') return mapped(line, folder);
  const path = below(folder, bytesOf(isByPath ? named : file).toString());
  if (path === undefined) return undefined;
  // The first process rebuilds the log's index; nothing of it survives a power cut.
  if (path.endsWith('-shm')) return undefined;
  const numbers = args.split(', ').map(Number);
  switch (name) {
    case 'openat':
      return { kind: 'open', path };
    case 'mkdir':
      return { kind: 'folder', path };
    case 'unlink':
      return { kind: 'remove', path };
    case 'pwrite64':
      return { kind: 'write', path, at: numbers.at(-1) ?? 0, bytes: bytesOf(named).subarray(0, Number(gave)) };
    case 'ftruncate':
      return { kind: 'truncate', path, size: numbers.at(-1) ?? 0 };
    case 'fsync':
    case 'fdatasync':
      return { kind: 'sync', path };
    default:
      throw new Error(`${name} of ${path}: a call that is not simulated`);
  }
}

/** A file that is written through memory leaves no trace: only the index of the log may be. */
function mapped(line: string, folder: string): undefined {
  const file = /\d+<((?:\\x[0-9a-f]{2})*)>/.exec(line)?.[1];
  const path = file === undefined ? undefined : below(folder, bytesOf(file).toString());
  if (path === undefined || path.endsWith('-shm') || !line.includes('MAP_SHARED')) return undefined;
  throw new Error(`${path} is mapped into memory, where its writes cannot be seen`);
}

function below(folder: string, path: string): string | undefined {
  const inside = relative(folder, path);
  return inside.startsWith('..') || inside.startsWith('/') ? undefined : inside;
}

function bytesOf(escaped: string): Buffer {
  return Buffer.from(escaped.replaceAll('\\x', ''), 'hex');
}

const SECTOR_BYTES = 512;

interface TracedFile {
  durable: Buffer;
  unsynced: (Extract<DiskStep, { kind: 'write' }> | Extract<DiskStep, { kind: 'truncate' }>)[];
}

type Name = readonly [path: string, file: TracedFile | 'folder' | undefined];

/**
 * A disk that steps are done to, and that knows what a power cut may leave: of a file, what it held at its last sync, and of
 * each 512 bytes written since either the old or the new; of the names in a folder, those at the folder's last sync, and
 * any of the changes since. So it asks more of a program than most file systems do.
 */
export class CutDisk {
  readonly #names = new Map<string, TracedFile | 'folder'>([['', 'folder']]);
  readonly #durableNames = new Map<string, TracedFile | 'folder'>([['', 'folder']]);
  #unsyncedNames: Name[] = [];

  apply(step: DiskStep): void {
    switch (step.kind) {
      case 'open':
        if (!this.#names.has(step.path)) this.#name(step.path, { durable: Buffer.alloc(0), unsynced: [] });
        return;
      case 'folder':
        this.#name(step.path, 'folder');
        return;
      case 'remove':
        this.#name(step.path, undefined);
        return;
      case 'write':
      case 'truncate':
        this.#file(step.path).unsynced.push(step);
        return;
      case 'sync':
        this.#sync(step.path);
        return;
      case 'print':
    }
  }

  /**
   * Writes what a power cut leaves now into a folder.
   *
   * @param random  numbers from 0 up to 1: a change that no sync covers is left where it is 0.5 or more
   */
  writeCut(folder: string, random: () => number): void {
    const names = new Map(this.#durableNames);
    for (const change of this.#unsyncedNames) if (random() >= 0.5) rename(names, change);
    for (const [path, entry] of names) {
      if (entry === 'folder' || !isReachable(names, path)) continue;
      mkdirSync(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
      writeFileSync(join(folder, path), contentOf(entry, random), { mode: 0o600 });
    }
  }

  #name(path: string, entry: TracedFile | 'folder' | undefined): void {
    rename(this.#names, [path, entry]);
    this.#unsyncedNames.push([path, entry]);
  }

  #sync(path: string): void {
    const entry = this.#names.get(path);
    if (entry === 'folder') {
      const isOfFolder = ([name]: Name): boolean => dirname(name) === (path === '' ? '.' : path);
      for (const change of this.#unsyncedNames.filter(isOfFolder)) rename(this.#durableNames, change);
      this.#unsyncedNames = this.#unsyncedNames.filter((change) => !isOfFolder(change));
      return;
    }
    const file = this.#file(path);
    file.durable = contentOf(file, () => 1);
    file.unsynced = [];
  }

  #file(path: string): TracedFile {
    const entry = this.#names.get(path);
    if (entry === undefined || entry === 'folder') throw new Error(`${path} is no file that was opened`);
    return entry;
  }
}

function rename(names: Map<string, TracedFile | 'folder'>, [path, entry]: Name): void {
  if (entry === undefined) names.delete(path);
  else names.set(path, entry);
}

function isReachable(names: ReadonlyMap<string, unknown>, path: string): boolean {
  const folder = dirname(path);
  return folder === '.' || (names.has(folder) && isReachable(names, folder));
}

function contentOf({ durable, unsynced }: TracedFile, random: () => number): Buffer {
  const end = Math.max(
    durable.length,
    ...unsynced.map((step) => (step.kind === 'write' ? step.at + step.bytes.length : 0)),
  );
  const content = Buffer.alloc(end);
  durable.copy(content);
  let size = durable.length;
  for (const step of unsynced) {
    if (step.kind === 'truncate') {
      if (random() < 0.5) continue;
      if (step.size < size) content.fill(0, step.size, size);
      size = step.size;
      continue;
    }
    for (let from = step.at; from < step.at + step.bytes.length;) {
      const through = Math.min(from - (from % SECTOR_BYTES) + SECTOR_BYTES, step.at + step.bytes.length);
      if (random() >= 0.5) {
        step.bytes.copy(content, from, from - step.at, through - step.at);
        size = Math.max(size, through);
      }
      from = through;
    }
  }
  return Buffer.from(content.subarray(0, size));
}
