import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { isBusy, pauseForLock } from '../store-address.ts';

/** Called again after a rollback. May throw to refuse the write. The returned function throws only on faults of the database. */
export type PlanWrite<Result> = () => () => Result;

interface WriteJob {
  readonly plan: PlanWrite<unknown>;
  readonly sinceMs: number;
  resolve(result: unknown): void;
  reject(thrown: unknown): void;
}

export interface SqliteWriteQueueOptions {
  readonly timeoutMs: number;
  readonly isGrouped: boolean;
}

/** Maximum time in milliseconds for which a group holds the lock and the event loop before it takes no more writes. */
const GROUP_MS = 8;

/** Time in milliseconds for which this writer lets other processes write first after it found the file locked. */
const POLITE_MS = 50;

/** In the order of the calls; waiting writes share a transaction. Waiting for a lock does not block the event loop. */
export class SqliteWriteQueue {
  readonly #database: DatabaseSync;
  readonly #options: SqliteWriteQueueOptions;
  readonly #jobs: WriteJob[] = [];
  #processing: Promise<void> | undefined;
  #lastWriteMs = 0;
  /** How many of the next jobs are written each in a separate transaction. */
  #separateJobs = 0;
  #politeUntilMs = 0;

  constructor(database: DatabaseSync, options: SqliteWriteQueueOptions) {
    this.#database = database;
    this.#options = options;
  }

  /** Time of the last write, on the clock of `performance.now()`; 0 before the first. */
  get lastWriteMs(): number {
    return this.#lastWriteMs;
  }

  async write<Result>(plan: PlanWrite<Result>): Promise<Result> {
    const result = new Promise<Result>((resolve, reject) => {
      this.#jobs.push({ plan, sinceMs: performance.now(), resolve, reject });
    });
    this.#processing ??= this.#processJobs();
    return await result;
  }

  async drain(): Promise<void> {
    await this.#processing;
  }

  async #processJobs(): Promise<void> {
    // Groups the writes of one turn.
    await nextTurn();
    while (this.#jobs.length > 0) {
      // If this writer took the lock again immediately, other processes would wait too long. They retry every millisecond
      // or two.
      if (performance.now() < this.#politeUntilMs) await pauseForLock();
      if (await this.#beginTransaction()) this.#commitNext();
      if (this.#jobs.length > 0) await nextTurn();
    }
    this.#processing = undefined;
  }

  async #beginTransaction(): Promise<boolean> {
    while (this.#jobs.length > 0) {
      try {
        this.#database.exec('BEGIN IMMEDIATE');
        return true;
      } catch (thrown) {
        this.#rejectTimedOut(thrown);
        this.#politeUntilMs = performance.now() + POLITE_MS;
      }
      await pauseForLock();
    }
    return false;
  }

  /** Rejects the jobs that timed out waiting for a lock. For any other fault, rejects all jobs. */
  #rejectTimedOut(thrown: unknown): void {
    const latestMs = isBusy(thrown) ? performance.now() - this.#options.timeoutMs : Infinity;
    while (this.#jobs[0] !== undefined && this.#jobs[0].sinceMs <= latestMs) this.#jobs.shift()?.reject(thrown);
  }

  #commitNext(): void {
    const group: WriteJob[] = [];
    const settle: (() => void)[] = [];
    try {
      this.#runGroup(group, settle);
      this.#database.exec('COMMIT');
    } catch (thrown) {
      // Some faults, such as a full disk, have already rolled back.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      const [only, ...others] = group;
      if (others.length === 0) only?.reject(thrown);
      else {
        // Each job is repeated alone, so that a failing write does not make other writes fail.
        this.#jobs.unshift(...group);
        this.#separateJobs = group.length;
      }
      return;
    }
    this.#lastWriteMs = performance.now();
    for (const one of settle) one();
  }

  #runGroup(group: WriteJob[], settle: (() => void)[]): void {
    const isGrouped = this.#options.isGrouped && this.#separateJobs === 0;
    this.#separateJobs = Math.max(0, this.#separateJobs - 1);
    const startMs = performance.now();
    for (let job = this.#jobs.shift(); job !== undefined; job = this.#jobs.shift()) {
      group.push(job);
      settle.push(this.#run(job));
      if (!isGrouped || performance.now() - startMs >= GROUP_MS) return;
    }
  }

  #run(job: WriteJob): () => void {
    let write: () => unknown;
    try {
      write = job.plan();
    } catch (thrown) {
      // A fault of the database ended the whole transaction.
      if (!this.#database.isTransaction) throw thrown;
      return () => job.reject(thrown);
    }
    const result = write();
    return () => job.resolve(result);
  }
}
