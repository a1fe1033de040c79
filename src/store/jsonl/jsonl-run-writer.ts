import { CoxswainError } from '../../base/error.ts';
import type { CheckedBatch } from '../check-batch.ts';
import { writeCheckpoint } from './jsonl-checkpoint.ts';
import { appendGroup } from './jsonl-group.ts';
import type { AppendJob } from './jsonl-group.ts';
import { LineBuffer } from './jsonl-line.ts';
import { segmentsIn } from './jsonl-names.ts';
import type { OpenRun } from './jsonl-open-run.ts';
import { namesIn } from './jsonl-run-files.ts';
import type { RunFiles } from './jsonl-run-files.ts';
import { refreshRun } from './jsonl-run-state.ts';
import type { RunState } from './jsonl-run-state.ts';
import type { JsonlSettings } from './jsonl-settings.ts';
import { RunTail } from './jsonl-tail.ts';
import type { LockIdentity } from '../lock-identity.ts';
import { makeFolder } from '../make-folder.ts';
import { takeRunLock, type RunLock } from './run-lock.ts';
import { toStoreError } from '../store-error.ts';

interface LockedRun extends OpenRun {
  readonly lock: RunLock;
  /** True while a write of appends is under way. */
  isWriting: boolean;
}

/** Bytes of JSON that go into one write, about; a later append waits for the next one. */
const GROUP_CHARS = 4 * 1024 * 1024;

/**
 * The one who writes a run in this process: takes jobs in the order of the calls, one write at a time. It takes the
 * run's lock with the first one and keeps it until `close`.
 */
export class RunWriter {
  readonly #run: RunFiles;
  readonly #settings: JsonlSettings;
  readonly #identity: LockIdentity;
  readonly #jobs: AppendJob[] = [];
  #open: LockedRun | undefined;
  #known: RunState | undefined;
  #pumping: Promise<void> | undefined;
  #unsettled: (() => void) | undefined;
  /** Never rejects. */
  #lettingGo: Promise<void> | undefined;

  constructor(run: RunFiles, settings: JsonlSettings, identity: LockIdentity) {
    this.#run = run;
    this.#settings = settings;
    this.#identity = identity;
  }

  /** True while no job waits or runs. */
  get isIdle(): boolean {
    return this.#pumping === undefined;
  }

  /** True from when the run's lock is had until it is begun to be let go. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  append(checked: CheckedBatch): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#add({ checked, ahead: this.#linesAhead(checked), resolve, reject });
    return promise;
  }

  /** While a write is under way, so that the lines of the next one are ready when the disk is. */
  #linesAhead(checked: CheckedBatch): LineBuffer | undefined {
    const lines = this.#open?.isWriting === true ? this.#open.spare.pop() : undefined;
    lines?.start();
    lines?.add(checked.records);
    return lines;
  }

  /** Resolves when the disk has everything that was given before the call. */
  async flush(): Promise<void> {
    await this.#pumping;
    try {
      await this.#open?.tail.sync();
    } catch (thrown) {
      throw toStoreError(thrown, `sync ${this.#run.folder}`);
    }
  }

  /** Finishes the jobs, syncs, and lets go of the file and the lock. A later job opens the run again. */
  async close(): Promise<void> {
    await this.#pumping;
    try {
      await this.#letGo();
    } catch (thrown) {
      throw toStoreError(thrown, `close ${this.#run.folder}`);
    }
  }

  #add(job: AppendJob): void {
    this.#jobs.push(job);
    this.#pumping ??= this.#pump();
  }

  async #pump(): Promise<void> {
    // What is given in the same turn goes into one write.
    await Promise.resolve();
    while (this.#jobs.length > 0) {
      while (this.#jobs.length > 0) await this.#next();
      this.#settle();
    }
    // In the same step as the last look at the jobs: one that comes later starts anew.
    this.#pumping = undefined;
  }

  async #next(): Promise<void> {
    let opened = this.#open;
    try {
      await opened?.lock.keep();
      opened ??= await this.#opened();
    } catch (thrown) {
      if (opened !== undefined) await this.#giveUpLock(opened);
      // All that wait now would meet the same refusal, each after its own wait.
      for (const job of this.#takeAppends(Infinity)) job.reject(thrown);
      return;
    }
    opened.isWriting = true;
    const writing = appendGroup(opened, this.#takeAppends(this.#settings.fsync === 'each' ? 0 : GROUP_CHARS));
    this.#settle();
    this.#unsettled = await writing;
    opened.isWriting = false;
  }

  /**
   * Lets the callers of the write before go on. Where another one waits that is after it has begun: a caller that encodes its
   * next batch first would leave the disk idle meanwhile.
   */
  #settle(): void {
    const settle = this.#unsettled;
    this.#unsettled = undefined;
    settle?.();
  }

  /** The appends that wait first, at least one. */
  #takeAppends(maxChars: number): AppendJob[] {
    const taken: AppendJob[] = [];
    for (let chars = 0; taken.length === 0 || chars < maxChars;) {
      const job = this.#jobs[0];
      if (job === undefined) break;
      this.#jobs.shift();
      taken.push(job);
      chars += job.checked.chars;
    }
    return taken;
  }

  async #opened(): Promise<LockedRun> {
    await this.#lettingGo;
    const open = this.#open;
    if (open !== undefined) {
      try {
        await open.lock.keep();
        return open;
      } catch (thrown) {
        await this.#giveUpLock(open);
        throw toStoreError(thrown, `keep the lock of ${this.#run.folder}`);
      }
    }
    const { folder } = this.#run;
    let lock: RunLock | undefined;
    try {
      await makeFolder(this.#run.fileSystem, folder);
      lock = await takeRunLock(this.#run, { identity: this.#identity, waitMs: this.#settings.lockWaitMs });
      this.#open = await this.#openLocked(lock);
      return this.#open;
    } catch (thrown) {
      await lock?.release().catch(() => undefined);
      throw toStoreError(thrown, `open ${folder} to write`);
    }
  }

  /** The lock is somebody else's: a later job takes it again, after looking at what was written meanwhile. */
  async #giveUpLock(open: LockedRun): Promise<void> {
    this.#open = undefined;
    this.#known = undefined;
    // What it would sync was acknowledged or will be refused; the file is another writer's now.
    await open.tail.close().catch(() => undefined);
    await open.lock.release().catch(() => undefined);
  }

  async #openLocked(lock: RunLock): Promise<LockedRun> {
    const run = this.#run;
    const state = await refreshRun(run, this.#known);
    if (state.problem !== undefined) throw damagedRun(run, state.problem);
    this.#known = state;
    const segment = segmentsIn(await namesIn(run)).at(-1);
    const settings = { syncs: this.#settings.fsync !== 'none', segmentBytes: this.#settings.segmentBytes };
    const { progress } = state;
    const tail = await RunTail.open(run, { place: progress?.place, segment }, settings);
    const spare = [new LineBuffer(), new LineBuffer()];
    return { run, tail, lines: new LineBuffer(), spare, isWriting: false, progress, lock };
  }

  async #letGo(): Promise<void> {
    const open = this.#open;
    // Who closes a second time is told when the lock is free, too.
    if (open === undefined) return this.#lettingGo;
    this.#open = undefined;
    const done = this.#finish(open);
    this.#lettingGo = done.catch(() => undefined);
    await done;
  }

  async #finish(open: LockedRun): Promise<void> {
    const { progress } = open;
    this.#known = progress === undefined ? undefined : { progress };
    try {
      await open.tail.close();
      if (progress !== undefined) await writeCheckpoint(this.#run, progress);
    } finally {
      await open.lock.release();
    }
  }
}

function damagedRun(run: RunFiles, problem: string): CoxswainError {
  return new CoxswainError(
    'store-io',
    `${run.folder} is damaged (${problem}); repair it or move it away to append to this run`,
  );
}
