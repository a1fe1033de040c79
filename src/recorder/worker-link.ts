import { Worker } from 'node:worker_threads';
import { CoxswainError, messageOf } from '../base/error.ts';
import { threadEntry } from '../base/thread-entry.ts';
import { fromWorkerError, type WorkerAnswer, type WorkerRequest, type WorkerStoreTarget } from './worker-protocol.ts';

/** Most text on its way to the worker; what comes then waits its turn. */
const MAX_CHARS_ON_WAY = 32 * 1024 * 1024;

/** A thread that stopped is started again this often within this time. */
const MAX_STARTS = 5;
const STARTS_WITHIN_MS = 60_000;

interface Asked {
  readonly request: WorkerRequest;
  readonly chars: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: CoxswainError) => void;
}

/**
 * A worker thread that answers requests, started at the first of them. It keeps the process alive only while an answer
 * is awaited. When it stops by itself, what was awaited fails with `store-io` and the next request starts it again.
 */
export class WorkerLink {
  readonly #target: WorkerStoreTarget;
  readonly #entry: URL;
  readonly #pending = new Map<number, Asked>();
  readonly #waiting: Asked[] = [];
  #starts: number[] = [];
  #worker: Worker | undefined;
  #nextId = 0;
  #charsOnWay = 0;

  /** @param entry  what the thread runs; default: the file beside this one */
  constructor(target: WorkerStoreTarget, entry?: URL) {
    this.#target = target;
    this.#entry = entry ?? threadEntry('store-worker', import.meta.url);
  }

  /** The thread's id; undefined while there is none. */
  get threadId(): number | undefined {
    return this.#worker?.threadId;
  }

  /**
   * Asks, in the order of the calls.
   *
   * @param chars  length of the text in the request
   * @throws CoxswainError what the worker threw, or "store-io" when it stopped or cannot be started
   */
  ask(request: WorkerRequest, chars = 0): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, chars, resolve, reject });
      this.#send();
    });
  }

  /** Ends the thread. @param last  asked before, when there is a thread */
  async end(last: WorkerRequest): Promise<void> {
    try {
      if (this.#worker !== undefined) await this.ask(last);
    } finally {
      const worker = this.#worker;
      this.#worker = undefined;
      if (worker !== undefined) await left(worker);
      this.#failPending(new Error('it was ended'));
    }
  }

  #send(): void {
    for (;;) {
      const next = this.#waiting[0];
      if (next === undefined) return;
      if (this.#charsOnWay > 0 && this.#charsOnWay + next.chars > MAX_CHARS_ON_WAY) return;
      this.#waiting.shift();
      let worker: Worker;
      try {
        worker = this.#worker ??= this.#start();
      } catch (error) {
        next.reject(stopped(error));
        continue;
      }
      const id = (this.#nextId += 1);
      if (this.#pending.size === 0) worker.ref();
      this.#pending.set(id, next);
      this.#charsOnWay += next.chars;
      const { request } = next;
      worker.postMessage({ id, request }, request.method === 'append' ? [request.batch.bytes] : []);
    }
  }

  #start(): Worker {
    const nowMs = performance.now();
    this.#starts = this.#starts.filter((atMs) => atMs > nowMs - STARTS_WITHIN_MS);
    if (this.#starts.length >= MAX_STARTS) {
      throw new Error(`it was started ${MAX_STARTS} times within ${STARTS_WITHIN_MS / 1_000} seconds`);
    }
    this.#starts.push(nowMs);
    // Flags of the program, such as those that say its code comes from the command line, are not the thread's.
    const worker = new Worker(this.#entry, { workerData: this.#target, execArgv: [] });
    worker.unref();
    worker.on('message', (answer: WorkerAnswer) => this.#hear(worker, answer));
    worker.on('error', (error) => this.#lose(worker, error));
    worker.on('exit', (code) => this.#lose(worker, new Error(`it ended with code ${code}`)));
    return worker;
  }

  #hear(worker: Worker, answer: WorkerAnswer): void {
    const asked = this.#pending.get(answer.id);
    if (asked === undefined) return;
    this.#pending.delete(answer.id);
    this.#charsOnWay -= asked.chars;
    if (this.#pending.size === 0) worker.unref();
    if ('error' in answer) asked.reject(fromWorkerError(answer.error));
    else asked.resolve(answer.value);
    this.#send();
  }

  #lose(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#failPending(error);
    this.#send();
  }

  /** So that nobody waits for an answer that cannot come. */
  #failPending(error: unknown): void {
    const lost = [...this.#pending.values()];
    this.#pending.clear();
    this.#charsOnWay = 0;
    for (const asked of lost) asked.reject(stopped(error));
  }
}

function stopped(error: unknown): CoxswainError {
  return new CoxswainError('store-io', `the store's worker thread has stopped: ${messageOf(error)}`, { cause: error });
}

/** How long a thread may take to leave once it was told to. */
const LEAVING_MS = 2_000;

/**
 * Resolves when the thread is gone. It leaves by itself after the last answer; `terminate` stops it wherever it is, and so is the
 * last resort.
 */
async function left(worker: Worker): Promise<void> {
  // What a thread that is gone has for an id.
  if (worker.threadId === -1) return;
  worker.ref();
  await new Promise<void>((resolve) => {
    const patience = setTimeout(() => void worker.terminate(), LEAVING_MS);
    worker.once('exit', () => {
      clearTimeout(patience);
      resolve();
    });
  });
}
