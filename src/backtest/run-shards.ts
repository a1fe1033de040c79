import { Worker } from 'node:worker_threads';

import { CoxswainError } from '../base/error.ts';
import { threadEntry } from '../base/thread-entry.ts';
import type { Configuration, ConfigurationSpec } from './configuration.ts';
import type { Shard } from './list-shards.ts';
import { replayShard } from './replay-shard.ts';
import type { ShardResult } from './run-row.ts';
import type { ShardAnswer, ShardRequest } from './shard-worker.ts';

/** How shards are worked through. */
export interface RunShardsOptions {
  readonly configurations: readonly Configuration[];
  /** The same configurations as data; absent: this thread does the work, because they cannot be sent. */
  readonly specs?: readonly ConfigurationSpec[];
  /** Threads; 1 is this one. */
  readonly workers: number;
  /** Told of each shard as it is done, in no fixed order. */
  readonly onDone: (number: number, result: ShardResult) => void;
}

/**
 * Replays shards, on several threads where that is asked for. A thread takes the next shard when it has done one.
 *
 * @param numbers which of `shards` to do
 * @throws CoxswainError "input-io" when a thread stops by itself
 */
export async function runShards(
  shards: readonly Shard[],
  numbers: readonly number[],
  options: RunShardsOptions,
): Promise<void> {
  const { configurations, specs, onDone } = options;
  const threads = Math.min(options.workers, numbers.length);
  if (specs === undefined || threads <= 1) {
    for (const number of numbers) {
      const shard = shards[number];
      if (shard !== undefined) onDone(number, await replayShard(shard, configurations));
    }
    return;
  }
  const waiting = [...numbers];
  const next = (): ShardRequest | undefined => {
    const number = waiting.shift();
    const shard = number === undefined ? undefined : shards[number];
    return number === undefined || shard === undefined ? undefined : { number, shard };
  };
  const workers = Array.from({ length: threads }, () => startWorker(specs));
  try {
    await Promise.all(workers.map((worker) => feed(worker, next, onDone)));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

function startWorker(specs: readonly ConfigurationSpec[]): Worker {
  return new Worker(threadEntry('shard-worker', import.meta.url), { workerData: specs, execArgv: [] });
}

function feed(worker: Worker, next: () => ShardRequest | undefined, onDone: RunShardsOptions['onDone']): Promise<void> {
  return new Promise((resolve, reject) => {
    const ask = (): void => {
      const request = next();
      if (request === undefined) {
        resolve();
        return;
      }
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage(request);
    };
    worker.on('message', (answer: ShardAnswer) => {
      if ('fault' in answer) {
        reject(new CoxswainError('input-io', answer.fault.message, { details: { shard: answer.number } }));
        return;
      }
      try {
        onDone(answer.number, answer.result);
        ask();
      } catch (error) {
        // What the caller throws is the caller's.
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    worker.on('error', (error) => {
      const reason = error instanceof Error ? error.message : String(error);
      reject(new CoxswainError('input-io', `a worker thread failed: ${reason}`, { cause: error }));
    });
    worker.on('exit', (code) => reject(new CoxswainError('input-io', `a worker thread stopped with code ${code}`)));
    ask();
  });
}
