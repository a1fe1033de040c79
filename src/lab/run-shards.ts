import { Worker } from 'node:worker_threads';

import { CoxswainError } from '../core/base/error.ts';
import { threadEntry } from '../core/node/thread-entry.ts';
import type { Configuration, ConfigurationSpec } from './configuration.ts';
import type { Shard } from './list-shards.ts';
import { replayShard } from './replay-shard.ts';
import type { ShardResult } from './run-row.ts';
import type { ShardAnswer, ShardRequest } from './shard-worker.ts';

export interface RunShardsOptions {
  readonly configurations: readonly Configuration[];
  /** The same configurations as plain data. Absent if they cannot be sent to threads; then the current thread does the work. */
  readonly specs?: readonly ConfigurationSpec[];
  /** Number of threads. With 1, only the current thread works. */
  readonly workers: number;
  /** Returns the number of the next shard, or undefined when none is left. */
  readonly take: () => Promise<number | undefined>;
  /** Called after each shard. The order of the calls is not fixed. */
  readonly onDone: (number: number, result: ShardResult) => Promise<void>;
}

/**
 * Replays shards, optionally on several threads. A thread takes its next shard when it has finished the previous one.
 *
 * @throws CoxswainError "input-io" if a thread stops unexpectedly
 */
export async function runShards(shards: readonly Shard[], options: RunShardsOptions): Promise<void> {
  const { configurations, specs, take, onDone, workers: threads } = options;
  const nextRequest = async (): Promise<ShardRequest | undefined> => {
    const number = await take();
    const shard = number === undefined ? undefined : shards[number];
    return number === undefined || shard === undefined ? undefined : { number, shard };
  };
  if (specs === undefined || threads <= 1) {
    for (let request = await nextRequest(); request !== undefined; request = await nextRequest()) {
      await onDone(request.number, await replayShard(request.shard, configurations));
    }
    return;
  }
  const workers = Array.from({ length: threads }, () => startWorker(specs));
  try {
    await Promise.all(workers.map((worker) => feedWorker(worker, nextRequest, onDone)));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

function startWorker(specs: readonly ConfigurationSpec[]): Worker {
  return new Worker(threadEntry('shard-worker', import.meta.url), { workerData: specs, execArgv: [] });
}

function feedWorker(
  worker: Worker,
  next: () => Promise<ShardRequest | undefined>,
  onDone: RunShardsOptions['onDone'],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const requestNext = async (): Promise<void> => {
      const request = await next();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      if (request !== undefined) worker.postMessage(request);
      else resolve();
    };
    const handleAnswer = async (answer: ShardAnswer): Promise<void> => {
      if ('fault' in answer) {
        throw new CoxswainError('input-io', answer.fault.message, { details: { shard: answer.number } });
      }
      await onDone(answer.number, answer.result);
      await requestNext();
    };
    worker.on('message', (answer: ShardAnswer) => void handleAnswer(answer).catch(reject));
    worker.on('error', (error) => {
      const reason = error instanceof Error ? error.message : String(error);
      reject(new CoxswainError('input-io', `a worker thread failed: ${reason}`, { cause: error }));
    });
    worker.on('exit', (code) => reject(new CoxswainError('input-io', `a worker thread stopped with code ${code}`)));
    requestNext().catch(reject);
  });
}
