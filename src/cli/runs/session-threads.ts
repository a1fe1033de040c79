import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

import type { RunFacts } from '../../core/facts/run-facts.ts';
import { threadEntry } from '../../core/node/thread-entry.ts';
import type { FoundSource } from '../../formats/find-sources.ts';
import type { SourceProblem } from './problems.ts';
import type { Standing } from './run-standing.ts';

/** What a thread must know to read sources as the main thread does. Plain data. */
export interface ThreadQuery {
  /** True for the facts that `FactsCache` keeps. */
  readonly onlyLessons?: boolean;
  /** Unix milliseconds; runs whose last record is earlier are left out. Runs without times are always included. Default: 0. */
  readonly sinceMs?: number;
  /** True to report lost lines and files that are no trajectories. Default: only lost lines of sessions at rest. */
  readonly reportsDamage?: boolean;
  readonly isVerbose?: boolean;
  readonly standing?: Standing;
  /** True to give the project of each run. */
  readonly withProject?: boolean;
}

export interface SessionAnswer {
  /** What `RunIds.adopt` needs. */
  readonly taken: readonly { readonly wanted: string; readonly id: string }[];
  readonly asked: readonly string[];
  /** The sessions whose processes may say more than the records (`mayStand`). */
  readonly stands: readonly string[];
  readonly events: readonly (
    | { readonly type: 'run'; readonly run: RunFacts }
    | { readonly type: 'left out' }
    | { readonly type: 'fault' | 'note'; readonly problem: SourceProblem }
  )[];
}

export type SessionRequest = Pick<FoundSource, 'format' | 'path'>;

/** Two threads read 85 MB in 0.86 of the time but 1.55 of the processor time of one; 1 GB in 0.73 (`bench/report.bench.ts`). */
const MIN_BYTES = 100_000_000;
const MAX_THREADS = 4;

interface Waiting {
  readonly request: SessionRequest;
  readonly answer: (answer: SessionAnswer | undefined) => void;
}

/** Threads that read one source each. The answer is undefined if a thread cannot read it: the main thread then does, and reports why. */
export class SessionThreads {
  readonly #query: ThreadQuery;
  readonly #workers = new Map<Worker, Waiting | undefined>();
  readonly #queue: Waiting[] = [];
  #bytes = 0;

  constructor(query: ThreadQuery) {
    this.#query = query;
  }

  /** Returns undefined as long as few bytes were asked for. */
  ask({ format, path, sizeBytes }: FoundSource): Promise<SessionAnswer | undefined> | undefined {
    if (sizeBytes === undefined) return undefined;
    const isFirst = this.#bytes < MIN_BYTES;
    this.#bytes += sizeBytes;
    if (this.#bytes < MIN_BYTES || availableParallelism() === 1) return undefined;
    if (isFirst) for (let left = Math.min(MAX_THREADS, availableParallelism()); left > 0; left -= 1) this.#start();
    if (this.#workers.size === 0) return undefined;
    const { promise, resolve } = Promise.withResolvers<SessionAnswer | undefined>();
    this.#queue.push({ request: { path, ...(format !== undefined && { format }) }, answer: resolve });
    this.#next();
    return promise;
  }

  async close(): Promise<void> {
    const workers = [...this.#workers.keys()];
    this.#workers.clear();
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  #start(): void {
    const worker = new Worker(threadEntry('session-worker', import.meta.url), {
      workerData: this.#query,
      execArgv: [],
    });
    this.#workers.set(worker, undefined);
    worker.on('message', (answer: SessionAnswer | undefined) => {
      this.#workers.get(worker)?.answer(answer);
      this.#workers.set(worker, undefined);
      this.#next();
    });
    const drop = (): void => {
      const waiting = this.#workers.get(worker);
      this.#workers.delete(worker);
      waiting?.answer(undefined);
      if (this.#workers.size === 0) for (const { answer } of this.#queue.splice(0)) answer(undefined);
    };
    worker.on('error', drop);
    worker.on('exit', drop);
  }

  #next(): void {
    for (const [worker, busy] of this.#workers) {
      const next = busy === undefined ? this.#queue.shift() : undefined;
      if (next === undefined) continue;
      this.#workers.set(worker, next);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage(next.request);
    }
  }
}
