import { Buffer } from 'node:buffer';
import { dirname } from 'node:path';

import type { FileSystem, OpenFile, OpenMode } from '../../src/store/file-system.ts';

/** An operation that a disk is asked for. */
export type DiskOperation =
  | 'makeFolder'
  | 'list'
  | 'facts'
  | 'open'
  | 'read'
  | 'write'
  | 'truncate'
  | 'sync'
  | 'link'
  | 'rename'
  | 'remove'
  | 'removeFolder'
  | 'syncFolder';

/** What a test does to a disk. May be changed at any time. */
export interface DiskFaults {
  /** Throws to refuse an operation; a promise delays it. */
  before?: (operation: DiskOperation, path: string) => void | Promise<void>;
  /** Bytes that one write takes at most. */
  maxWriteBytes?: number;
  /** Bytes of all files together; a write beyond takes what fits, then is refused with `ENOSPC`. */
  capacityBytes?: number;
  /** Operations that change something and still happen; at the one after them the power is cut. */
  operationsLeft?: number;
  /** Writes to a file that was opened so are synced by themselves, as on Linux; default false. */
  canSyncWrites?: boolean;
}

/** A file system in memory that knows what is on the disk and what only the operating system has. */
export interface SimulatedDisk {
  readonly fileSystem: FileSystem;
  readonly faults: DiskFaults;
  /** Operations so far that change something. */
  readonly changes: () => number;
  /** What every process sees of a file. */
  read(path: string): Buffer;
  /** Changes a file behind everyone's back. */
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

type NameEdit =
  | { readonly kind: 'set'; readonly path: string; readonly inode: Inode | 'folder' }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'move'; readonly from: string; readonly to: string };

/** A change of names in one folder that no `syncFolder` has covered. It is on the disk as a whole or not at all. */
interface NameChange {
  readonly folders: ReadonlySet<string>;
  readonly edits: readonly NameEdit[];
}

type Names = Map<string, Inode | 'folder'>;

const BLOCK_BYTES = 512;

/** An empty disk, or one with these names, all of them synced. */
export function simulatedDisk(synced: Names = new Map([['/', 'folder' as const]])): SimulatedDisk {
  const names: Names = new Map(synced);
  const durable: Names = new Map(synced);
  let pending: NameChange[] = [];
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

  function change(...edits: readonly NameEdit[]): void {
    const paths = edits.flatMap((edit) => (edit.kind === 'move' ? [edit.from, edit.to] : [edit.path]));
    const done = { folders: new Set(paths.map((path) => dirname(path))), edits };
    applyChanges(names, [done], () => true);
    pending.push(done);
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

  function openFile(inode: Inode, path: string, syncsWrites: boolean): OpenFile {
    return {
      syncsWrites,
      read: async (into, position) => {
        await begin('read', path);
        const part = inode.content.subarray(position, position + into.length);
        into.set(part);
        return part.length;
      },
      write: async (bytes) => {
        await beginChange('write', path);
        const taken = write(inode, bytes);
        if (syncsWrites) inode.durable = Buffer.from(inode.content);
        return taken;
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
    change({ kind: 'set', path, inode });
  }

  function renameFolder(from: string, to: string): void {
    if (names.has(to)) throw fault('EEXIST', to);
    // What changed in the folder and is not on the disk yet is from now on spoken of under the new name.
    pending = pending.map(({ folders, edits }) => ({
      folders: new Set(Array.from(folders, (folder) => movedPath(folder, from, to))),
      edits: edits.map((edit) => movedEdit(edit, from, to)),
    }));
    change({ kind: 'move', from, to });
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
    open: async (path, mode: OpenMode, options) => {
      const isThere = names.has(path);
      await (mode === 'read' || isThere ? begin('open', path) : beginChange('open', path));
      if (mode === 'create' && names.has(path)) throw fault('EEXIST', path);
      if ((mode === 'make' || mode === 'create') && !names.has(path)) {
        if (!names.has(dirname(path))) throw fault('ENOENT', path);
        ids += 1;
        addName(path, { id: ids, content: Buffer.alloc(0), durable: Buffer.alloc(0), changedAt: 0 });
      }
      return openFile(inodeAt(path), path, options?.syncsWrites === true && faults.canSyncWrites === true);
    },
    readWhole: async (path) => {
      await begin('read', path);
      return Buffer.from(inodeAt(path).content);
    },
    link: async (from, to) => {
      await beginChange('link', to);
      const inode = inodeAt(from);
      if (names.has(to)) throw fault('EEXIST', to);
      addName(to, inode);
    },
    rename: async (from, to) => {
      await beginChange('rename', to);
      if (names.get(from) === 'folder') {
        renameFolder(from, to);
        return;
      }
      const inode = inodeAt(from);
      change({ kind: 'delete', path: from }, { kind: 'set', path: to, inode });
    },
    remove: async (path) => {
      await beginChange('remove', path);
      inodeAt(path);
      change({ kind: 'delete', path });
    },
    removeFolder: async (path) => {
      await beginChange('removeFolder', path);
      if (names.get(path) !== 'folder') throw fault('ENOENT', path);
      if ([...names.keys()].some((inside) => inside !== path && dirname(inside) === path))
        throw fault('ENOTEMPTY', path);
      change({ kind: 'delete', path });
    },
    syncFolder: async (folder) => {
      await beginChange('syncFolder', folder);
      if (!names.has(folder)) throw fault('ENOENT', folder);
      applyChanges(durable, pending, ({ folders }) => folders.has(folder));
      pending = pending.filter(({ folders }) => !folders.has(folder));
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
      const kept = new Set(pending.filter(() => random() >= 0.5));
      applyChanges(left, pending, (one) => kept.has(one));
      const copies = new Map<Inode, Inode>();
      for (const [path, inode] of left) {
        if (inode === 'folder') continue;
        const copy = copies.get(inode) ?? afterCut(inode, random);
        copies.set(inode, copy);
        left.set(path, copy);
      }
      // What lies in a folder that is not there is not there either.
      for (const path of left.keys()) if (!isReachable(left, path)) left.delete(path);
      return simulatedDisk(left);
    },
  };
}

/**
 * Applies some of the changes that wait. Their paths are those of now, so where a folder got its name after a change, or
 * its new name is not kept, the change happens under the name before.
 */
function applyChanges(into: Names, waiting: readonly NameChange[], isApplied: (change: NameChange) => boolean): void {
  const moves = waiting.flatMap((change, index) =>
    change.edits.flatMap((edit) => (edit.kind === 'move' ? [{ edit, index, isApplied: isApplied(change) }] : [])),
  );
  for (const [index, one] of waiting.entries()) {
    if (!isApplied(one)) continue;
    const nameThen = (path: string): string =>
      moves.reduceRight(
        (at, { edit, index: movedAt, isApplied: isKept }) =>
          movedAt > index || (movedAt < index && !isKept) ? movedPath(at, edit.to, edit.from) : at,
        path,
      );
    for (const edit of one.edits) {
      if (edit.kind === 'move') moveAll(into, edit.from, edit.to);
      else if (edit.kind === 'set') into.set(nameThen(edit.path), edit.inode);
      else into.delete(nameThen(edit.path));
    }
  }
}

function moveAll(names: Names, from: string, to: string): void {
  for (const [path, inode] of Array.from(names)) {
    const moved = movedPath(path, from, to);
    if (moved === path) continue;
    names.delete(path);
    names.set(moved, inode);
  }
}

/** A path as it is after a folder, which may be above it, got another name. */
function movedPath(path: string, from: string, to: string): string {
  return path === from || path.startsWith(`${from}/`) ? to + path.slice(from.length) : path;
}

function movedEdit(edit: NameEdit, from: string, to: string): NameEdit {
  // Only files move within a run's folder, which itself is moved by name.
  if (edit.kind === 'move') return edit;
  // The folder itself is named in the one above it, where that change still stands before the move.
  return edit.path === from ? edit : { ...edit, path: movedPath(edit.path, from, to) };
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
