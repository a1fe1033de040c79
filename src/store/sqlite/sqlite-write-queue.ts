import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { isBusy, pauseForLock } from '../sqlite-busy.ts';

/**
 * Something to write. Called inside a transaction, and again in another one when that was rolled back. It reads and
 * may refuse by throwing, which concerns nobody else; what it gives then writes, and fails only by a fault.
 */
export type PlanWrite<Result> = () => () => Result;

interface Job {
  readonly plan: PlanWrite<unknown>;
  readonly sinceMs: number;
  resolve(result: unknown): void;
  reject(thrown: unknown): void;
}

/** How a queue commits. */
export interface SqliteWriteQueueOptions {
  /** Most milliseconds that a write waits for another process. */
  readonly timeoutMs: number;
  /** Whether writes that wait at the same time share a transaction. */
  readonly isGrouped: boolean;
}

/** A group takes no more once it has held the lock and the event loop for so long. */
const GROUP_MS = 8;

/** For how long after meeting another writer this one lets others go first. */
const POLITE_MS = 50;

/**
 * The one place where a store writes: jobs in the order in which they came, in transactions that hold all the jobs
 * that wait together. Waiting for another process does not hold up the event loop.
 */
export class SqliteWriteQueue {
  readonly #database: DatabaseSync;
  readonly #options: SqliteWriteQueueOptions;
  readonly #jobs: Job[] = [];
  #pumping: Promise<void> | undefined;
  #lastWriteMs = 0;
  /** How many of the next jobs get a transaction of their own. */
  #alone = 0;
  #politeUntilMs = 0;

  constructor(database: DatabaseSync, options: SqliteWriteQueueOptions) {
    this.#database = database;
    this.#options = options;
  }

  /** When something was last written, on the clock of `performance.now()`; 0 before that. */
  get lastWriteMs(): number {
    return this.#lastWriteMs;
  }

  /** Resolves with what the job's write gave once that is committed; rejects with what it threw. */
  async write<Result>(plan: PlanWrite<Result>): Promise<Result> {
    const written = new Promise<Result>((resolve, reject) => {
      this.#jobs.push({ plan, sinceMs: performance.now(), resolve, reject });
    });
    this.#pumping ??= this.#pump();
    return await written;
  }

  async drain(): Promise<void> {
    await this.#pumping;
  }

  async #pump(): Promise<void> {
    // Writes that are asked for in the same turn go together.
    await nextTurn();
    while (this.#jobs.length > 0) {
      // Who takes the lock back at once starves the others, who ask for it once in a millisecond or two.
      if (performance.now() < this.#politeUntilMs) await pauseForLock();
      if (await this.#begin()) this.#commitNext();
      if (this.#jobs.length > 0) await nextTurn();
    }
    this.#pumping = undefined;
  }

  /** Begins a transaction, or says false when no job is left that would wait for it. */
  async #begin(): Promise<boolean> {
    while (this.#jobs.length > 0) {
      try {
        this.#database.exec('BEGIN IMMEDIATE');
        return true;
      } catch (thrown) {
        this.#giveUp(thrown);
        this.#politeUntilMs = performance.now() + POLITE_MS;
      }
      await pauseForLock();
    }
    return false;
  }

  /** Rejects the jobs that waited long enough for a lock; all of them for any other fault. */
  #giveUp(thrown: unknown): void {
    const latestMs = isBusy(thrown) ? performance.now() - this.#options.timeoutMs : Infinity;
    while (this.#jobs[0] !== undefined && this.#jobs[0].sinceMs <= latestMs) this.#jobs.shift()?.reject(thrown);
  }

  /** Takes jobs into the transaction that was begun, commits and settles them. */
  #commitNext(): void {
    const taken: Job[] = [];
    const settle: (() => void)[] = [];
    try {
      this.#takeJobs(taken, settle);
      this.#database.exec('COMMIT');
    } catch (thrown) {
      // SQLite has rolled back by itself after some faults, such as a full disk.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      const [only, ...others] = taken;
      if (others.length === 0) only?.reject(thrown);
      else {
        // Somebody's write failed: each for itself now, so that it fails nobody else's.
        this.#jobs.unshift(...taken);
        this.#alone = taken.length;
      }
      return;
    }
    this.#lastWriteMs = performance.now();
    for (const one of settle) one();
  }

  #takeJobs(taken: Job[], settle: (() => void)[]): void {
    const isGrouped = this.#options.isGrouped && this.#alone === 0;
    this.#alone = Math.max(0, this.#alone - 1);
    const startMs = performance.now();
    for (let job = this.#jobs.shift(); job !== undefined; job = this.#jobs.shift()) {
      taken.push(job);
      settle.push(this.#run(job));
      if (!isGrouped || performance.now() - startMs >= GROUP_MS) return;
    }
  }

  #run(job: Job): () => void {
    let write: () => unknown;
    try {
      write = job.plan();
    } catch (thrown) {
      // A fault of the medium has ended the transaction for everyone.
      if (!this.#database.isTransaction) throw thrown;
      return () => job.reject(thrown);
    }
    const result = write();
    return () => job.resolve(result);
  }
}
