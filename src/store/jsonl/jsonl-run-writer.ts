import { dirname } from 'node:path';

import { CoxswainError } from '../../base/error.ts';
import type { CheckedBatch, EncodedRecord } from '../check-batch.ts';
import type { FileSystem, OpenFile } from '../file-system.ts';
import { planAppend } from '../plan-append.ts';
import { RunCounter, type RunSummary } from '../run-summary.ts';
import { toStoreError } from '../store-error.ts';
import { bytesOfWrite, linesOfAppend, type AppendLines } from './jsonl-line.ts';
import { recordsPath, type RunFiles } from './run-files.ts';
import type { RunLock } from './run-lock.ts';
import { damageError, walkRun, type RunPlace } from './walk-run.ts';

/** How a run is written. */
export interface RunWriterOptions {
  readonly fsync: 'group' | 'each' | 'none';
  readonly takeLock: (folder: string) => Promise<RunLock>;
}

interface AppendJob {
  readonly checked: CheckedBatch;
  readonly lines: AppendLines;
  readonly resolve: (lastSeq: number) => void;
  readonly reject: (thrown: unknown) => void;
}

/** A run that this process holds the lock of. */
interface OpenRun {
  readonly lock: RunLock;
  readonly path: string;
  readonly file: OpenFile;
  /** What is stored and acknowledged. */
  summary: RunSummary | undefined;
  endOffset: number;
  /** A write failed and may have left something behind the end. */
  isUncut: boolean;
  isDirty: boolean;
  /** Records that were acknowledged without a sync could not be synced: they may be lost. */
  syncFault?: CoxswainError;
}

/** Characters of JSON that go into one write, about; a later append waits for the next one. */
const GROUP_CHARS = 4 * 1024 * 1024;

/**
 * Writes one run for this process: takes appends in the order of the calls, one write at a time. It takes the
 * run's lock with the first one and keeps it until `close`.
 */
export class RunWriter {
  readonly #run: RunFiles;
  readonly #options: RunWriterOptions;
  #jobs: AppendJob[] = [];
  #open: OpenRun | undefined;
  /** Never rejects. */
  #closing: Promise<void> | undefined;
  #pumping: Promise<void> | undefined;

  constructor(run: RunFiles, options: RunWriterOptions) {
    this.#run = run;
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#pumping === undefined;
  }

  /** True from when the run's lock is had until it is begun to be let go. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  append(checked: CheckedBatch): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#jobs.push({ checked, lines: linesOfAppend(checked.records), resolve, reject });
    this.#pumping ??= this.#pump();
    return promise;
  }

  /** Resolves when the disk has everything that was given before the call. */
  async flush(): Promise<void> {
    await this.#pumping;
    try {
      if (this.#open !== undefined) await sync(this.#open);
    } catch (thrown) {
      throw toStoreError(thrown, `sync ${this.#run.folder}`);
    }
  }

  /** Finishes the appends, syncs, and lets go of the file and the lock. A later append opens the run again. */
  async close(): Promise<void> {
    await this.#pumping;
    const open = this.#open;
    // A second `close` resolves when the lock is free, too.
    if (open === undefined) return this.#closing;
    this.#open = undefined;
    const closing = this.#letGo(open);
    this.#closing = closing.catch(() => undefined);
    await closing;
  }

  async #letGo(open: OpenRun): Promise<void> {
    try {
      await sync(open);
    } catch (thrown) {
      throw toStoreError(thrown, `close ${this.#run.folder}`);
    } finally {
      await open.file.close();
      open.lock.release();
    }
  }

  async #pump(): Promise<void> {
    // What is given in the same turn goes into one write.
    await Promise.resolve();
    let settle = (): void => undefined;
    while (this.#jobs.length > 0) {
      try {
        this.#open ??= await this.#opened();
      } catch (thrown) {
        const fault = toStoreError(thrown, `open ${this.#run.folder} to write`);
        // All that wait now would meet the same refusal, each after its own wait.
        for (const job of this.#jobs.splice(0)) job.reject(fault);
        break;
      }
      const writing = this.#appendGroup(this.#open, this.#takeJobs());
      // Only now: a caller that encodes its next batch first would leave the disk idle meanwhile.
      settle();
      settle = await writing;
      if (this.#jobs.length === 0) settle();
    }
    settle();
    // In the same step as the last look at the jobs: a later one starts the pump again.
    this.#pumping = undefined;
  }

  /** The appends that wait first, at least one. */
  #takeJobs(): readonly AppendJob[] {
    let chars = 0;
    let count = 0;
    for (const { checked } of this.#jobs) {
      if (count > 0 && (this.#options.fsync === 'each' || chars >= GROUP_CHARS)) break;
      chars += checked.chars;
      count += 1;
    }
    return this.#jobs.splice(0, count);
  }

  /**
   * Writes appends as one: one that does not fit the run is rejected by itself, the others are stored or fail together.
   *
   * @returns settles the others; a second call does nothing
   */
  async #appendGroup(open: OpenRun, jobs: readonly AppendJob[]): Promise<() => void> {
    const doing = `append to ${this.#run.folder}`;
    const fresh: EncodedRecord[] = [];
    const appends: AppendLines[] = [];
    const planned: { readonly job: AppendJob; readonly lastSeq: number }[] = [];
    let { summary } = open;
    for (const job of jobs) {
      try {
        const { checked } = job;
        const isRepeat = checked.firstSeq <= (open.summary?.lastSeq ?? -1);
        const stored = isRepeat ? await this.#storedFrom(checked.firstSeq, checked.lastSeq) : undefined;
        const waiting = (seq: number): string | undefined => fresh.find((one) => one.seq === seq)?.json;
        const plan = planAppend(checked, summary, (seq) => stored?.get(seq) ?? waiting(seq));
        fresh.push(...plan.fresh);
        if (plan.fresh.length === checked.records.length) appends.push(job.lines);
        else if (plan.fresh.length > 0) appends.push(linesOfAppend(plan.fresh));
        summary = plan.summary;
        planned.push({ job, lastSeq: summary.lastSeq });
      } catch (thrown) {
        job.reject(toStoreError(thrown, doing));
      }
    }
    try {
      if (appends.length > 0) await this.#write(open, bytesOfWrite(appends));
    } catch (thrown) {
      const fault = toStoreError(thrown, doing);
      return () => planned.forEach(({ job }) => job.reject(fault));
    }
    open.summary = summary;
    return () => planned.forEach(({ job, lastSeq }) => job.resolve(lastSeq));
  }

  /** Throws what the file system throws; then nothing of the bytes is stored, once the disk takes a cut. */
  async #write(open: OpenRun, bytes: Buffer): Promise<void> {
    const { endOffset, file, path } = open;
    if (open.isUncut) await cut(open);
    if (file.sizeBytes() !== endOffset)
      throw new CoxswainError('store-io', `${path} was changed by someone else while this process had its lock`);
    open.isUncut = true;
    try {
      for (let written = 0; written < bytes.length;) {
        const taken = await file.write(bytes.subarray(written));
        // A file system that takes nothing and refuses nothing would keep the caller here for ever.
        if (taken === 0) throw new Error('the file system took no bytes');
        written += taken;
      }
      if (this.#options.fsync === 'none') open.isDirty = true;
      else await file.sync();
    } catch (thrown) {
      // A refusal is met again, and thrown, before the next write.
      await cut(open).catch(() => undefined);
      throw thrown;
    }
    open.isUncut = false;
    open.endOffset += bytes.length;
  }

  /** Takes the lock, reads the run to its end, and cuts off what a crash left unfinished there. */
  async #opened(): Promise<OpenRun> {
    await this.#closing;
    const { fileSystem, folder } = this.#run;
    await makeFolder(fileSystem, folder);
    const lock = await this.#options.takeLock(folder);
    try {
      const { end, summary } = await this.#readToEnd();
      const path = recordsPath(this.#run);
      const file = await fileSystem.openEnd(path);
      const endOffset = end?.offset ?? 0;
      const open: OpenRun = { lock, path, file, summary, endOffset, isUncut: true, isDirty: false };
      try {
        // A writer that was killed may have left records that no disk has, and a file is durable only with its name.
        await cut(open);
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
      if (item.type === 'damage') throw damagedRun(this.#run, damageError(item).message);
      if (item.type === 'torn') break;
      counter.fold(item.record);
      end = item.end;
    }
    return { end, summary: end === undefined ? undefined : counter.summary() };
  }

  /** The JSON of stored records, by their `seq`. Cost: reads from the start of the file. */
  async #storedFrom(fromSeq: number, throughSeq: number): Promise<ReadonlyMap<number, string>> {
    const stored = new Map<number, string>();
    for await (const item of walkRun(this.#run)) {
      if (item.type !== 'record' || item.record.seq > throughSeq) break;
      if (item.record.seq >= fromSeq) stored.set(item.record.seq, item.json);
    }
    return stored;
  }
}

/** Cuts off what follows the last append. */
async function cut(open: OpenRun): Promise<void> {
  if (open.file.sizeBytes() > open.endOffset) await open.file.truncate(open.endOffset);
  await open.file.sync();
  open.isUncut = false;
}

async function sync(open: OpenRun): Promise<void> {
  if (open.isUncut) await cut(open);
  if (!open.isDirty) return;
  // Linux answers a second sync with success although what the first one could not write is lost.
  if (open.syncFault !== undefined) throw open.syncFault;
  try {
    await open.file.sync();
  } catch (thrown) {
    open.syncFault = toStoreError(thrown, `sync ${open.path}`);
    throw open.syncFault;
  }
  open.isDirty = false;
}

/** Makes a folder and what is missing above it, for their owner only, so that a power cut leaves them. */
async function makeFolder(fileSystem: FileSystem, folder: string): Promise<void> {
  const topmost = await fileSystem.makeFolder(folder);
  // One that is there may have been made by a process that was killed before it could sync.
  const above = dirname(topmost ?? folder);
  for (let made = folder; made !== above; made = dirname(made)) await fileSystem.syncFolder(dirname(made));
}

function damagedRun(run: RunFiles, problem: string): CoxswainError {
  return new CoxswainError(
    'store-io',
    `${run.folder} is damaged (${problem}); repair it or move it away to append to this run`,
  );
}
