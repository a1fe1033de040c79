import { Worker } from 'node:worker_threads';
import { CoxswainError, messageOf } from '../base/error.ts';
import { threadEntry } from '../base/thread-entry.ts';
import { fromWorkerError, type WorkerMethods, type WorkerResponse, type WorkerStoreTarget } from './worker-protocol.ts';

/** A stopped thread is restarted at most this many times within this period. */
const MAX_STARTS = 5;
const STARTS_WITHIN_MS = 60_000;

/** Maximum time in milliseconds that a thread may take to exit. After that, it is terminated. */
const EXIT_LIMIT_MS = 2_000;

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: CoxswainError) => void;
}

/**
 * Calls methods in a worker thread, which the first call starts. The thread keeps the process alive only while a call is pending.
 * If it stops, pending calls fail with `store-io` and the next call restarts it.
 */
export class WorkerLink {
  readonly #target: WorkerStoreTarget;
  readonly #entry: URL;
  readonly #pending = new Map<number, PendingCall>();
  #starts: number[] = [];
  #worker: Worker | undefined;
  #nextId = 0;

  /** @param entry  the thread's program; default: the package's own */
  constructor(target: WorkerStoreTarget, entry?: URL) {
    this.#target = target;
    this.#entry = entry ?? threadEntry('store-worker', import.meta.url);
  }

  /** Undefined while there is no thread. */
  get threadId(): number | undefined {
    return this.#worker?.threadId;
  }

  /** @throws CoxswainError what the method threw, or "store-io" if the thread stopped or cannot be started */
  call<Method extends keyof WorkerMethods>(
    method: Method,
    ...args: Parameters<WorkerMethods[Method]>
  ): ReturnType<WorkerMethods[Method]> {
    const result = new Promise((resolve, reject) => {
      let worker: Worker;
      try {
        worker = this.#worker ??= this.#start();
      } catch (error) {
        reject(createStoppedError(error));
        return;
      }
      const id = (this.#nextId += 1);
      if (this.#pending.size === 0) worker.ref();
      this.#pending.set(id, { resolve, reject });
      worker.postMessage({ id, method, args }, []);
    });
    // The thread responds with the result of that method.
    return result as ReturnType<WorkerMethods[Method]>;
  }

  /** Closes the store and ends the thread. */
  async end(): Promise<void> {
    try {
      if (this.#worker !== undefined) await this.call('close');
    } finally {
      const worker = this.#worker;
      this.#worker = undefined;
      if (worker !== undefined) await waitForExit(worker);
      this.#failPending(new Error('it was ended'));
    }
  }

  #start(): Worker {
    const nowMs = performance.now();
    this.#starts = this.#starts.filter((atMs) => atMs > nowMs - STARTS_WITHIN_MS);
    if (this.#starts.length >= MAX_STARTS) {
      throw new Error(`it was started ${MAX_STARTS} times within ${STARTS_WITHIN_MS / 1_000} seconds`);
    }
    this.#starts.push(nowMs);
    // The program's own flags, such as `--eval`, do not apply to the thread.
    const worker = new Worker(this.#entry, { workerData: this.#target, execArgv: [] });
    worker.unref();
    worker.on('message', (response: WorkerResponse) => this.#receive(worker, response));
    worker.on('error', (error) => this.#handleStop(worker, error));
    worker.on('exit', (code) => this.#handleStop(worker, new Error(`it ended with code ${code}`)));
    return worker;
  }

  #receive(worker: Worker, response: WorkerResponse): void {
    const pending = this.#pending.get(response.id);
    if (pending === undefined) return;
    this.#pending.delete(response.id);
    if (this.#pending.size === 0) worker.unref();
    if ('error' in response) pending.reject(fromWorkerError(response.error));
    else pending.resolve(response.value);
  }

  #handleStop(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#failPending(error);
  }

  #failPending(error: unknown): void {
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of calls) reject(createStoppedError(error));
  }
}

function createStoppedError(error: unknown): CoxswainError {
  return new CoxswainError('store-io', `the store's worker thread has stopped: ${messageOf(error)}`, { cause: error });
}

/** Resolves when the thread has exited. The thread exits after its last response. If it does not, it is terminated. */
async function waitForExit(worker: Worker): Promise<void> {
  // An exited thread has the id -1.
  if (worker.threadId === -1) return;
  worker.ref();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => void worker.terminate(), EXIT_LIMIT_MS);
    worker.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
