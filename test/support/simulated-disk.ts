import { Buffer } from 'node:buffer';
import { dirname } from 'node:path';

import type { FileSystem, OpenFile } from '../../src/store/file-system.ts';

export type DiskOperation =
  | 'makeFolder'
  | 'list'
  | 'facts'
  | 'open'
  | 'read'
  | 'write'
  | 'truncate'
  | 'sync'
  | 'syncFolder';

/** Faults injected into a disk; may change at any time. */
export interface DiskFaults {
  /** Throws to refuse an operation; a promise delays it. */
  before?: (operation: DiskOperation, path: string) => void | Promise<void>;
  /** Bytes that one write takes at most. */
  maxWriteBytes?: number;
  /** Bytes of all files together; a write beyond takes what fits, then is refused with `ENOSPC`. */
  capacityBytes?: number;
  /** Operations that change something and still happen; at the one after them the power is cut. */
  operationsLeft?: number;
}

/** A file system in memory that knows what is on the disk and what only the operating system has. */
export interface SimulatedDisk {
  readonly fileSystem: FileSystem;
  readonly faults: DiskFaults;
  /** Operations so far that change something. */
  readonly changes: () => number;
  /** The content of a file as every process sees it. */
  read(path: string): Buffer;
  /** Changes a file without notifying its users. */
  overwrite(path: string, content: Buffer): void;
  paths(): readonly string[];
  /**
   * The disk after a power cut: what was synced, and of the rest some of it, file blocks and names in any order.
   *
   * @param random  numbers from 0 up to 1; 0 always drops, 0.999 always keeps
   */
  afterPowerCut(random: () => number): SimulatedDisk;
}

interface Inode {
  readonly id: number;
  content: Buffer;
  durable: Buffer;
  changedAt: number;
}

/** A name that no `syncFolder` has covered. */
interface NewName {
  readonly path: string;
  readonly inode: Inode | 'folder';
}

type Names = Map<string, Inode | 'folder'>;

const BLOCK_BYTES = 512;

/** An empty disk, or one with these names, all of them synced. */
export function simulatedDisk(synced: Names = new Map([['/', 'folder' as const]])): SimulatedDisk {
  const names: Names = new Map(synced);
  const durable: Names = new Map(synced);
  let pending: NewName[] = [];
  const faults: DiskFaults = {};
  let changes = 0;
  let ids = Math.max(0, ...Array.from(names.values(), (one) => (one === 'folder' ? 0 : one.id)));

  async function begin(operation: DiskOperation, path: string): Promise<void> {
    // As on a machine, nothing has happened when the call returns.
    await Promise.resolve();
    await faults.before?.(operation, path);
    if (faults.operationsLeft !== undefined && faults.operationsLeft < 0) throw fault('EIO', 'the power is off');
  }

  async function beginChange(operation: DiskOperation, path: string): Promise<void> {
    await begin(operation, path);
    changes += 1;
    if (faults.operationsLeft === undefined) return;
    faults.operationsLeft -= 1;
    if (faults.operationsLeft < 0 && operation !== 'write') throw fault('EIO', 'the power is off');
  }

  function inodeAt(path: string): Inode {
    const inode = names.get(path);
    if (inode === undefined) throw fault('ENOENT', path);
    if (inode === 'folder') throw fault('EISDIR', path);
    return inode;
  }

  function usedBytes(): number {
    const inodes = new Set([...names.values()].filter((one) => one !== 'folder'));
    return [...inodes].reduce((sum, inode) => sum + inode.content.length, 0);
  }

  function write(inode: Inode, bytes: Uint8Array): number {
    const isCut = faults.operationsLeft !== undefined && faults.operationsLeft < 0;
    const room = faults.capacityBytes === undefined ? Infinity : faults.capacityBytes - usedBytes();
    if (room <= 0) throw fault('ENOSPC', 'no space left');
    // The power goes in the middle of a write.
    const most = Math.min(bytes.length, room, faults.maxWriteBytes ?? Infinity, isCut ? bytes.length >> 1 : Infinity);
    inode.content = Buffer.concat([inode.content, bytes.subarray(0, most)]);
    inode.changedAt += 1;
    if (isCut) throw fault('EIO', 'the power is off');
    return most;
  }

  function openFile(inode: Inode, path: string): OpenFile {
    return {
      write: async (bytes) => {
        await beginChange('write', path);
        return write(inode, bytes);
      },
      truncate: async (sizeBytes) => {
        await beginChange('truncate', path);
        inode.content = inode.content.subarray(0, sizeBytes);
        inode.changedAt += 1;
      },
      sync: async () => {
        await beginChange('sync', path);
        inode.durable = Buffer.from(inode.content);
      },
      sizeBytes: () => inode.content.length,
      close: async () => undefined,
    };
  }

  function addName(path: string, inode: Inode | 'folder'): void {
    names.set(path, inode);
    pending.push({ path, inode });
  }

  const fileSystem: FileSystem = {
    makeFolder: async (path) => {
      await beginChange('makeFolder', path);
      const missing: string[] = [];
      for (let folder = path; !names.has(folder); folder = dirname(folder)) missing.unshift(folder);
      for (const folder of missing) addName(folder, 'folder');
      return missing[0];
    },
    list: async (folder) => {
      await begin('list', folder);
      if (!names.has(folder)) throw fault('ENOENT', folder);
      const inside = [...names.keys()].filter((path) => path !== folder && dirname(path) === folder);
      return inside.map((path) => path.slice(folder.length + 1));
    },
    facts: async (path) => {
      await begin('facts', path);
      const inode = names.get(path);
      if (inode === undefined || inode === 'folder') return undefined;
      return { inode: inode.id, sizeBytes: inode.content.length, modifiedMs: inode.changedAt };
    },
    openEnd: async (path) => {
      await (names.has(path) ? begin('open', path) : beginChange('open', path));
      if (!names.has(path)) {
        if (!names.has(dirname(path))) throw fault('ENOENT', path);
        ids += 1;
        addName(path, { id: ids, content: Buffer.alloc(0), durable: Buffer.alloc(0), changedAt: 0 });
      }
      return openFile(inodeAt(path), path);
    },
    async *read(path, fromOffset) {
      await begin('read', path);
      yield Buffer.from(inodeAt(path).content.subarray(fromOffset));
    },
    syncFolder: async (folder) => {
      await beginChange('syncFolder', folder);
      if (!names.has(folder)) throw fault('ENOENT', folder);
      for (const { path, inode } of pending) if (dirname(path) === folder) durable.set(path, inode);
      pending = pending.filter(({ path }) => dirname(path) !== folder);
    },
  };

  return {
    fileSystem,
    faults,
    changes: () => changes,
    read: (path) => Buffer.from(inodeAt(path).content),
    overwrite: (path, content) => {
      const inode = inodeAt(path);
      inode.content = Buffer.from(content);
      inode.durable = Buffer.from(content);
      inode.changedAt += 1;
    },
    paths: () => [...names.keys()].filter((path) => names.get(path) !== 'folder'),
    afterPowerCut(random) {
      const left: Names = new Map(durable);
      for (const { path, inode } of pending) if (random() >= 0.5) left.set(path, inode);
      const copies = new Map<Inode, Inode>();
      for (const [path, inode] of left) {
        if (inode === 'folder') continue;
        const copy = copies.get(inode) ?? afterCut(inode, random);
        copies.set(inode, copy);
        left.set(path, copy);
      }
      // Files in a missing folder are missing too.
      for (const path of left.keys()) if (!isReachable(left, path)) left.delete(path);
      return simulatedDisk(left);
    },
  };
}

function isReachable(names: Names, path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (names.get(folder) !== 'folder') return false;
    if (folder === '/') return true;
  }
}

/** Each block is the synced one or a later one; the size is one the file had, or one between. */
function afterCut(inode: Inode, random: () => number): Inode {
  const { content, durable, id, changedAt } = inode;
  let result = durable;
  if (!content.equals(durable)) {
    const sizeBytes = durable.length + Math.round((content.length - durable.length) * Math.min(1, random() * 1.2));
    result = Buffer.alloc(sizeBytes);
    durable.copy(result);
    for (let at = 0; at < sizeBytes; at += BLOCK_BYTES) {
      if (random() >= 0.5) content.copy(result, at, at, Math.min(at + BLOCK_BYTES, sizeBytes));
    }
  }
  return { id, content: Buffer.from(result), durable: Buffer.from(result), changedAt: changedAt + 1 };
}

function fault(code: string, what: string): Error {
  return Object.assign(new Error(`${code}: ${what}`), { code });
}
