import { join, resolve } from 'node:path';

import { invalidArgument } from '../../base/error.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { checkBatch, type CheckedBatch } from '../check-batch.ts';
import type { CheckedSink } from '../checked-sink.ts';
import { nodeFileSystem, type FileSystem } from '../file-system.ts';
import { openRecords, refuseLinks } from '../records-folder.ts';
import { storeClosed } from '../store-error.ts';
import type { TrajectorySink } from '../trajectory-store.ts';
import { RunWriter } from './jsonl-run-writer.ts';
import { runFolderName } from './run-folder-name.ts';
import { takeRunLock, type RunLock } from './run-lock.ts';

/** How a sink of JSON lines writes. */
export interface JsonlSinkOptions {
  /**
   * When an append is acknowledged. `group` (default): the disk has it; appends that arrive during a sync share the
   * next one. `each`: the disk has it, by a sync of its own. `none`: the operating system has it, so a crash of the
   * process loses nothing and a power cut may lose what came after the last `flush`, or make the run need a repair.
   */
  readonly fsync?: 'group' | 'each' | 'none';
  readonly lock?: {
    /** How long an append waits for another writer of its run, in milliseconds; default 5,000. */
    readonly waitMs?: number;
  };
}

/** What a sink is built on, so that tests can refuse an operation or cut the power. */
export interface JsonlPorts {
  readonly fileSystem: FileSystem;
  /** As `takeRunLock`. */
  readonly takeLock: (folder: string, waitMs: number) => Promise<RunLock>;
}

/**
 * Writes runs as lines of JSON, for tools that read such files: a folder a run, in it a file of one record a line. A line is
 * the record's JSON with one more member, `line_check`, by which a reader knows that the line is as it was written. It only
 * appends: a store that lists, searches, deletes and keeps state is `sqliteStore`; `openStoreReader(folder)` reads and follows
 * what is here, and `coxswain import FOLDER` copies it into a store.
 *
 * The folder is made at the first append (folders 0700, files 0600). A run has one writer at a time: the first append takes
 * a lock, which `close()` or the end of the process frees.
 *
 * Durability: see `fsync` of the options. An append is written whole or not at all, also through a power cut. What a
 * crash left of an unfinished one is never read, and cut off by the next writer. An append to a run in which a line is not as it
 * was written throws `store-io`.
 *
 * Cost: an append is one write and one sync, shared with the appends that arrive meanwhile. The first append to a run
 * reads all of it.
 *
 * @throws CoxswainError `invalid-argument` for an option out of range; `unsafe-path` for a `.coxswain` that is a link
 */
export function jsonlSink(folder: string, options: JsonlSinkOptions = {}): TrajectorySink {
  const path = resolve(folder);
  refuseLinks(path);
  const makeFolder: FileSystem['makeFolder'] = async (at) => {
    openRecords(path, { env: process.env });
    return nodeFileSystem.makeFolder(at);
  };
  return new JsonlSink(path, options, { fileSystem: { ...nodeFileSystem, makeFolder }, takeLock: takeRunLock });
}

/** Runs that one sink holds open; each has a file and a lock. */
const MAX_OPEN = 64;
const DEFAULT_LOCK_WAIT_MS = 5000;

/** The sink behind `jsonlSink`. */
export class JsonlSink implements TrajectorySink, CheckedSink {
  readonly #makeWriter: (name: string) => RunWriter;
  /** By folder name, the one used last at the end. Those that were idle longest are closed when too many are open. */
  readonly #writers = new Map<string, RunWriter>();
  readonly #closing = new Set<Promise<void>>();
  /** Of writers that were closed for being idle; the next `flush` or `close` throws the first. */
  readonly #faults: unknown[] = [];
  #isClosed = false;

  /** @param folder  an absolute path */
  constructor(folder: string, options: JsonlSinkOptions, { fileSystem, takeLock }: JsonlPorts) {
    const { fsync = 'group', lock: { waitMs = DEFAULT_LOCK_WAIT_MS } = {} } = options;
    if (!['group', 'each', 'none'].includes(fsync)) {
      throw invalidArgument(`fsync is group, each or none, got ${JSON.stringify(fsync)}`);
    }
    if (!Number.isSafeInteger(waitMs) || waitMs < 0) {
      throw invalidArgument(`lock.waitMs must be a whole number from 0, got ${waitMs}`);
    }
    this.#makeWriter = (name) =>
      new RunWriter({ fileSystem, folder: join(folder, name) }, { fsync, takeLock: (at) => takeLock(at, waitMs) });
  }

  async append(batch: readonly TrajectoryRecord[]): Promise<number> {
    this.#mustBeOpen();
    return this.appendChecked(checkBatch(batch));
  }

  async appendChecked(checked: CheckedBatch): Promise<number> {
    this.#mustBeOpen();
    const name = runFolderName(checked.runId);
    const writer = this.#writers.get(name) ?? this.#makeWriter(name);
    this.#writers.delete(name);
    this.#writers.set(name, writer);
    const appending = writer.append(checked);
    this.#closeIdle();
    return appending;
  }

  /** Throws the first fault, when all writers are done. */
  async flush(): Promise<void> {
    this.#mustBeOpen();
    await this.#settle(Array.from(this.#writers.values(), (writer) => writer.flush()));
  }

  /** Throws the first fault, when all writers are done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const writers = [...this.#writers.values()];
    this.#writers.clear();
    await this.#settle(writers.map((writer) => writer.close()));
  }

  #closeIdle(): void {
    let tooMany = [...this.#writers.values()].filter(({ isOpen }) => isOpen).length - MAX_OPEN;
    for (const [name, writer] of this.#writers) {
      if (tooMany <= 0) return;
      if (!writer.isIdle || !writer.isOpen) continue;
      tooMany -= 1;
      const closing = writer
        .close()
        .catch((thrown: unknown) => void this.#faults.push(thrown))
        .finally(() => {
          this.#closing.delete(closing);
          // Unless it was wanted again meanwhile: then it may have the lock, and another writer would meet it.
          if (writer.isIdle && !writer.isOpen && this.#writers.get(name) === writer) this.#writers.delete(name);
        });
      this.#closing.add(closing);
    }
  }

  async #settle(works: readonly Promise<void>[]): Promise<void> {
    const settled = await Promise.allSettled(works);
    await Promise.all(this.#closing);
    const faults = this.#faults.splice(0);
    for (const one of settled) if (one.status === 'rejected') faults.push(one.reason);
    if (faults.length > 0) throw faults[0];
  }

  #mustBeOpen(): void {
    if (this.#isClosed) throw storeClosed();
  }
}
