import { resolve } from 'node:path';

import { nodeFileSystem, type FileSystem } from '../file-system.ts';
import { JsonlDriver } from './jsonl-driver.ts';
import { resolveJsonlSettings } from './jsonl-settings.ts';
import type { JsonlStoreOptions } from './jsonl-settings.ts';
import { processIdentity } from '../lock-identity.ts';
import { openRecords, refuseLinks } from '../records-folder.ts';
import type { TrajectoryStore } from '../trajectory-store.ts';

export type { JsonlStoreOptions } from './jsonl-settings.ts';

/**
 * A folder with one folder a run, in it segment files of one record a line. Readable with any tool that reads JSON
 * lines, and easy to carry about. A line is the record's JSON with one more member, `line_check`, by which
 * a reader knows that the line is as it was written.
 *
 * The folder is made at the first append (folders 0700, files 0600); reading never writes. A run has one writer at a
 * time, by a lock file: the first append takes the lock and keeps it until `close()`, a transaction lets go of
 * it at its end, and the lock of a process that is gone is taken over. Any number of processes may read.
 *
 * Durability: see `fsync` of the options. An append is stored whole or not at all, also through a power cut. What a
 * crash left of an unfinished one is never read, and cut off by the next writer: no more than one write, which
 * nobody was told of. Where a line is not as it was written although a later write shows that the disk had it,
 * reading throws `invalid-record` with file and line, the run is listed with its `problem`, and an append to it throws
 * `store-io`.
 *
 * Cost: an append is one write and one sync, shared with the appends that arrive meanwhile. The first look at a run
 * reads what came after its last checkpoint (written at `close`); `listRuns` then asks the file system twice for
 * each run. `readRun` reads from the start of a segment also for a late `fromSeq`. `search` reads everything, with
 * memory for one page of hits; there is no index.
 *
 * @throws CoxswainError `invalid-argument` for an option out of range; `unsafe-path` for a `.coxswain` that is a link
 */
export function jsonlStore(folder: string, options: JsonlStoreOptions = {}): TrajectoryStore {
  const path = resolve(folder);
  refuseLinks(path);
  const makeFolder: FileSystem['makeFolder'] = async (at) => {
    openRecords(path, { env: process.env });
    return nodeFileSystem.makeFolder(at);
  };
  const ports = { fileSystem: { ...nodeFileSystem, makeFolder }, identity: processIdentity };
  return new JsonlDriver(path, resolveJsonlSettings(options), ports);
}
