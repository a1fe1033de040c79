import { dirname } from 'node:path';

import { CoxswainError } from '../../base/error.ts';
import type { CheckedBatch, EncodedRecord } from '../check-batch.ts';
import type { FileSystem, OpenFile } from '../file-system.ts';
import { planAppend } from '../plan-append.ts';
import { RunCounter, type RunSummary } from '../run-summary.ts';
import { toStoreError } from '../store-error.ts';
import { bytesOfWrite } from './jsonl-line.ts';
import { recordsPath, type RunFiles } from './run-files.ts';
import type { RunLock } from './run-lock.ts';
import { damageError, walkRun, type RunPlace } from './walk-run.ts';

export interface RunWriterOptions {
  readonly fsync: 'group' | 'each' | 'none';
  readonly takeLock: (folder: string) => Promise<RunLock>;
}

interface AppendJob {
  readonly batch: CheckedBatch;
  readonly resolve: (lastSeq: number) => void;
  readonly reject: (thrown: unknown) => void;
}

/** A run whose lock this process holds. */
interface OpenRun {
  readonly lock: RunLock;
  readonly path: string;
  readonly file: OpenFile;
  /** The summary that was acknowledged to callers. */
  summary: RunSummary | undefined;
  endOffset: number;
  /** True if a failed write may have left bytes after the end. */
  hasTail: boolean;
  isDirty: boolean;
  /** Set if a sync of acknowledged records failed. Those records may be lost. */
  syncFault?: CoxswainError;
}

/** Approximate number of JSON characters per write. */
const GROUP_CHARS = 4 * 1024 * 1024;

/**
 * Appends to one run in the order of the calls, one write at a time. The writer holds the run's lock from the first append
 * to `close`.
 */
export class RunWriter {
  readonly #run: RunFiles;
  readonly #options: RunWriterOptions;
  #jobs: AppendJob[] = [];
  #open: OpenRun | undefined;
  #processing: Promise<void> | undefined;

  constructor(run: RunFiles, options: RunWriterOptions) {
    this.#run = run;
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#processing === undefined;
  }

  append(batch: CheckedBatch): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#jobs.push({ batch, resolve, reject });
    this.#processing ??= this.#processJobs();
    return promise;
  }

  /** Resolves when everything appended before the call is on disk. */
  async flush(): Promise<void> {
    await this.#processing;
    try {
      if (this.#open !== undefined) await sync(this.#open);
    } catch (thrown) {
      throw toStoreError(thrown, `sync ${this.#run.folder}`);
    }
  }

  /** Finishes the appends, syncs, and releases the file and the lock. No other method may be called afterwards. */
  async close(): Promise<void> {
    await this.#processing;
    const open = this.#open;
    if (open === undefined) return;
    try {
      await sync(open);
    } catch (thrown) {
      throw toStoreError(thrown, `close ${this.#run.folder}`);
    } finally {
      await open.file.close();
      open.lock.release();
    }
  }

  async #processJobs(): Promise<void> {
    // Groups the appends of one turn of the event loop.
    await Promise.resolve();
    while (this.#jobs.length > 0) {
      try {
        this.#open ??= await this.#openRun();
      } catch (thrown) {
        const fault = toStoreError(thrown, `open ${this.#run.folder} to write`);
        for (const job of this.#jobs.splice(0)) job.reject(fault);
        break;
      }
      await this.#appendGroup(this.#open, this.#takeJobs());
    }
    this.#processing = undefined;
  }

  #takeJobs(): readonly AppendJob[] {
    let chars = 0;
    let count = 0;
    for (const { batch } of this.#jobs) {
      if (count > 0 && (this.#options.fsync === 'each' || chars >= GROUP_CHARS)) break;
      chars += batch.chars;
      count += 1;
    }
    return this.#jobs.splice(0, count);
  }

  /** Stores several appends with one write. An append that does not continue the run is rejected, and the others are stored. */
  async #appendGroup(open: OpenRun, jobs: readonly AppendJob[]): Promise<void> {
    const action = `append to ${this.#run.folder}`;
    const appends: (readonly EncodedRecord[])[] = [];
    const accepted: { readonly job: AppendJob; readonly lastSeq: number }[] = [];
    let { summary } = open;
    for (const job of jobs) {
      try {
        const { batch } = job;
        const isRepeat = batch.firstSeq <= (open.summary?.lastSeq ?? -1);
        const storedJson = isRepeat ? await this.#storedJson(batch.firstSeq, batch.lastSeq) : undefined;
        const unwrittenJson = (seq: number): string | undefined =>
          appends.flat().find((record) => record.seq === seq)?.json;
        const plan = planAppend(batch, summary, (seq) => storedJson?.get(seq) ?? unwrittenJson(seq));
        if (plan.fresh.length > 0) appends.push(plan.fresh);
        summary = plan.summary;
        accepted.push({ job, lastSeq: summary.lastSeq });
      } catch (thrown) {
        job.reject(toStoreError(thrown, action));
      }
    }
    try {
      if (appends.length > 0) await this.#write(open, bytesOfWrite(appends));
    } catch (thrown) {
      const fault = toStoreError(thrown, action);
      for (const { job } of accepted) job.reject(fault);
      return;
    }
    open.summary = summary;
    for (const { job, lastSeq } of accepted) job.resolve(lastSeq);
  }

  /** Throws the errors of the file system. After an error, none of the bytes are stored once the file is truncated. */
  async #write(open: OpenRun, bytes: Buffer): Promise<void> {
    const { endOffset, file, path } = open;
    if (open.hasTail) await truncateTail(open);
    if (file.sizeBytes() !== endOffset)
      throw new CoxswainError(
        'store-io',
        `${path} was changed by another program although this process holds its lock`,
      );
    open.hasTail = true;
    try {
      for (let offset = 0; offset < bytes.length;) {
        const count = await file.write(bytes.subarray(offset));
        if (count === 0) throw new Error('the file system wrote no bytes');
        offset += count;
      }
      if (this.#options.fsync === 'none') open.isDirty = true;
      else await file.sync();
    } catch (thrown) {
      // If truncating fails, the next write tries again first.
      await truncateTail(open).catch(() => undefined);
      throw thrown;
    }
    open.hasTail = false;
    open.endOffset += bytes.length;
  }

  /** Takes the lock, reads the run to its end, and truncates an append that a crash left unfinished. */
  async #openRun(): Promise<OpenRun> {
    const { fileSystem, folder } = this.#run;
    await makeFolder(fileSystem, folder);
    const lock = await this.#options.takeLock(folder);
    try {
      const { end, summary } = await this.#readToEnd();
      const path = recordsPath(this.#run);
      const file = await fileSystem.openEnd(path);
      const open: OpenRun = { lock, path, file, summary, endOffset: end?.offset ?? 0, hasTail: true, isDirty: false };
      try {
        // A killed writer may have left records that are not on disk. A new file is durable only once its folder is synced.
        await truncateTail(open);
        await fileSystem.syncFolder(folder);
      } catch (thrown) {
        await file.close();
        throw thrown;
      }
      return open;
    } catch (thrown) {
      lock.release();
      throw thrown;
    }
  }

  async #readToEnd(): Promise<{ readonly end: RunPlace | undefined; readonly summary: RunSummary | undefined }> {
    const counter = new RunCounter();
    let end: RunPlace | undefined;
    for await (const item of walkRun(this.#run)) {
      if (item.type === 'damage') {
        const { message } = damageError(item);
        const instruction = 'repair it or move it away to append to this run';
        throw new CoxswainError('store-io', `${this.#run.folder} is damaged (${message}); ${instruction}`);
      }
      if (item.type === 'torn') break;
      counter.fold(item.record);
      end = item.end;
    }
    return { end, summary: end === undefined ? undefined : counter.summary() };
  }

  /** Returns the JSON of stored records by `seq`. Cost: reads from the start of the file. */
  async #storedJson(fromSeq: number, throughSeq: number): Promise<ReadonlyMap<number, string>> {
    const jsonBySeq = new Map<number, string>();
    for await (const item of walkRun(this.#run)) {
      if (item.type !== 'record' || item.record.seq > throughSeq) break;
      if (item.record.seq >= fromSeq) jsonBySeq.set(item.record.seq, item.json);
    }
    return jsonBySeq;
  }
}

/** Truncates the file after the last append. */
async function truncateTail(open: OpenRun): Promise<void> {
  if (open.file.sizeBytes() > open.endOffset) await open.file.truncate(open.endOffset);
  await open.file.sync();
  open.hasTail = false;
}

async function sync(open: OpenRun): Promise<void> {
  if (open.hasTail) await truncateTail(open);
  if (!open.isDirty) return;
  // After a failed sync, Linux reports success for the next sync although data is lost.
  if (open.syncFault !== undefined) throw open.syncFault;
  try {
    await open.file.sync();
  } catch (thrown) {
    open.syncFault = toStoreError(thrown, `sync ${open.path}`);
    throw open.syncFault;
  }
  open.isDirty = false;
}

/** Creates a folder and its missing parents, for their owner only, durably. */
async function makeFolder(fileSystem: FileSystem, folder: string): Promise<void> {
  const topmost = await fileSystem.makeFolder(folder);
  // An existing folder may come from a process that was killed before it could sync.
  const parent = dirname(topmost ?? folder);
  for (let child = folder; child !== parent; child = dirname(child)) await fileSystem.syncFolder(dirname(child));
}
