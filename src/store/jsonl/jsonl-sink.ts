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

export interface JsonlSinkOptions {
  /**
   * When an append is acknowledged. `group` (default): when it is on disk; appends that arrive during a sync share the next
   * sync. `each`: when it is on disk, with a separate sync per append. `none`: when the operating system has received it.
   * With `none`, a crash of the process loses nothing, but a power cut may lose what was written after the last `flush`, or
   * damage the run.
   */
  readonly fsync?: 'group' | 'each' | 'none';
  readonly lock?: {
    /** Maximum time in milliseconds that an append waits for another writer of its run; default 5,000. */
    readonly waitMs?: number;
  };
}

/** @internal The file system and the lock of a sink. Tests replace them to inject faults. */
export interface JsonlPorts {
  readonly fileSystem: FileSystem;
  /** Works like `takeRunLock`. */
  readonly takeLock: (folder: string, waitMs: number) => Promise<RunLock>;
}

/**
 * Writes runs as lines of JSON, for tools that read such files: one folder per run, one file, one record per line. A line is the
 * record's JSON with one more member, the checksum `line_check`. The sink only appends: use `sqliteStore` to list, search and
 * delete. `openStoreReader(folder)` reads and follows the folder, `coxswain import FOLDER` copies it into a store.
 *
 * The first append creates the folder (folders 0700, files 0600). A run has one writer at a time: the first append takes a lock,
 * which `close()` or the end of the process releases.
 *
 * Durability: see `fsync`. An append is stored whole or not at all, also after a power cut. Readers ignore what a crash left of an
 * unfinished append, and the next writer truncates it. An append to a run with a damaged line throws `store-io`.
 *
 * Cost: an append is one write and one sync, shared with concurrent appends. The first append to a run reads all of it.
 *
 * @throws CoxswainError `invalid-argument` for an option out of range; `unsafe-path` for a `.coxswain` that is a link
 */
export function jsonlSink(folder: string, options: JsonlSinkOptions = {}): TrajectorySink {
  const path = resolve(folder);
  refuseLinks(path);
  const makeFolder: FileSystem['makeFolder'] = async (folderPath) => {
    openRecords(path, { env: process.env });
    return nodeFileSystem.makeFolder(folderPath);
  };
  return new JsonlSink(path, options, { fileSystem: { ...nodeFileSystem, makeFolder }, takeLock: takeRunLock });
}

/** Maximum number of writers that one sink keeps open. Each writer has a file and a lock. */
const MAX_WRITERS = 64;
const DEFAULT_LOCK_WAIT_MS = 5000;

/** @internal The sink behind `jsonlSink`. */
export class JsonlSink implements TrajectorySink, CheckedSink {
  readonly #makeWriter: (name: string) => RunWriter;
  /** Writers by folder name, the most recently used last. */
  readonly #writers = new Map<string, RunWriter>();
  /** Idle writers that are being closed, by folder name. These promises never reject. */
  readonly #closing = new Map<string, Promise<void>>();
  /** Faults of idle writers. The next `flush` or `close` throws the first fault. */
  readonly #faults: unknown[] = [];
  #isClosed = false;

  /** @param folder  an absolute path */
  constructor(folder: string, options: JsonlSinkOptions, { fileSystem, takeLock }: JsonlPorts) {
    const { fsync = 'group', lock: { waitMs = DEFAULT_LOCK_WAIT_MS } = {} } = options;
    if (!['group', 'each', 'none'].includes(fsync)) {
      throw invalidArgument(`fsync must be group, each or none, got ${JSON.stringify(fsync)}`);
    }
    if (!Number.isSafeInteger(waitMs) || waitMs < 0) {
      throw invalidArgument(`lock.waitMs must be a whole number from 0, got ${waitMs}`);
    }
    this.#makeWriter = (name) => {
      const closingWriter = this.#closing.get(name);
      const takeLockAfterClose = async (folderPath: string): Promise<RunLock> => {
        await closingWriter;
        return takeLock(folderPath, waitMs);
      };
      return new RunWriter({ fileSystem, folder: join(folder, name) }, { fsync, takeLock: takeLockAfterClose });
    };
  }

  async append(batch: readonly TrajectoryRecord[]): Promise<number> {
    this.#requireOpen();
    return this.appendChecked(checkBatch(batch));
  }

  async appendChecked(checked: CheckedBatch): Promise<number> {
    this.#requireOpen();
    const name = runFolderName(checked.runId);
    const writer = this.#writers.get(name) ?? this.#makeWriter(name);
    this.#writers.delete(name);
    this.#writers.set(name, writer);
    const result = writer.append(checked);
    this.#closeIdle();
    return result;
  }

  /** Throws the first fault after all writers have finished. */
  async flush(): Promise<void> {
    this.#requireOpen();
    await this.#waitForAll(Array.from(this.#writers.values(), (writer) => writer.flush()));
  }

  /** Throws the first fault after all writers have finished. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const writers = [...this.#writers.values()];
    this.#writers.clear();
    await this.#waitForAll(writers.map((writer) => writer.close()));
  }

  #closeIdle(): void {
    for (const [name, writer] of this.#writers) {
      if (this.#writers.size <= MAX_WRITERS) return;
      if (!writer.isIdle) continue;
      this.#writers.delete(name);
      const closePromise = writer
        .close()
        .catch((thrown: unknown) => void this.#faults.push(thrown))
        .finally(() => {
          if (this.#closing.get(name) === closePromise) this.#closing.delete(name);
        });
      this.#closing.set(name, closePromise);
    }
  }

  async #waitForAll(promises: readonly Promise<void>[]): Promise<void> {
    const results = await Promise.allSettled(promises);
    await Promise.all(this.#closing.values());
    const faults = this.#faults.splice(0);
    for (const result of results) if (result.status === 'rejected') faults.push(result.reason);
    if (faults.length > 0) throw faults[0];
  }

  #requireOpen(): void {
    if (this.#isClosed) throw storeClosed();
  }
}
