import { join, resolve } from 'node:path';

import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { checkBatch, type CheckedBatch } from '../check-batch.ts';
import type { CheckedSink } from '../checked-sink.ts';
import { nodeFileSystem, type FileSystem } from '../file-system.ts';
import { processIdentity, type LockIdentity } from '../lock-identity.ts';
import { openRecords, refuseLinks } from '../records-folder.ts';
import { storeClosed } from '../store-error.ts';
import type { TrajectorySink } from '../trajectory-store.ts';
import { RunWriters } from './jsonl-run-writers.ts';
import { resolveJsonlSettings, type JsonlSettings, type JsonlSinkOptions } from './jsonl-settings.ts';
import { runFolderName } from './run-folder-name.ts';

export type { JsonlSinkOptions } from './jsonl-settings.ts';

/**
 * Writes runs as lines of JSON, for tools that read such files: a folder a run, in it segment files of one record a line. A line is
 * the record's JSON with one more member, `line_check`, by which a reader knows that the line is as it was written. It only
 * appends: a store that lists, searches, deletes and keeps state is `sqliteStore`; `openStoreReader(folder)` reads and follows
 * what is here, and `coxswain import FOLDER` copies it into a store.
 *
 * The folder is made at the first append (folders 0700, files 0600). A run has one writer at a time, by a lock file: the first
 * append takes the lock and keeps it until `close()`, and the lock of a process that is gone is taken over.
 *
 * Durability: see `fsync` of the options. An append is written whole or not at all, also through a power cut. What a
 * crash left of an unfinished one is never read, and cut off by the next writer. An append to a run in which a line is not as it was
 * written throws `store-io`.
 *
 * Cost: an append is one write and one sync, shared with the appends that arrive meanwhile. The first append to a run
 * reads what came after its last checkpoint (written at `close`).
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
  const ports = { fileSystem: { ...nodeFileSystem, makeFolder }, identity: processIdentity };
  return new JsonlSink(path, resolveJsonlSettings(options), ports);
}

/** What a sink is built on, so that tests can refuse, cut the power, and stand for several machines. */
export interface JsonlPorts {
  readonly fileSystem: FileSystem;
  readonly identity: LockIdentity;
}

/** The sink behind `jsonlSink`. */
export class JsonlSink implements TrajectorySink, CheckedSink {
  readonly #writers: RunWriters;
  #isClosed = false;

  /** @param folder  an absolute path */
  constructor(folder: string, settings: JsonlSettings, { fileSystem, identity }: JsonlPorts) {
    this.#writers = new RunWriters((name) => ({ fileSystem, folder: join(folder, name) }), settings, identity);
  }

  async append(batch: readonly TrajectoryRecord[]): Promise<number> {
    this.#mustBeOpen();
    return this.appendChecked(checkBatch(batch));
  }

  async appendChecked(checked: CheckedBatch): Promise<number> {
    this.#mustBeOpen();
    return this.#writers.of(runFolderName(checked.runId)).append(checked);
  }

  async flush(): Promise<void> {
    this.#mustBeOpen();
    await this.#writers.flush();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writers.close();
  }

  #mustBeOpen(): void {
    if (this.#isClosed) throw storeClosed();
  }
}
