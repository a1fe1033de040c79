import { parentPort, workerData } from 'node:worker_threads';

import { CoxswainError, messageOf } from '../core/base/error.ts';
import { makeConfiguration, type ConfigurationSpec } from './configuration.ts';
import type { Shard } from './list-shards.ts';
import { replayShard } from './replay-shard.ts';
import type { ShardResult } from './run-row.ts';

export interface ShardRequest {
  readonly number: number;
  readonly shard: Shard;
}

export type ShardAnswer =
  | { readonly number: number; readonly result: ShardResult }
  | { readonly number: number; readonly fault: { readonly code?: string; readonly message: string } };

// Only the worker pool runs this file. It passes the configurations as `workerData`.
const configurations = Promise.all((workerData as readonly ConfigurationSpec[]).map(makeConfiguration));

parentPort?.on('message', ({ number, shard }: ShardRequest) => {
  void sendAnswer(number, shard);
});

async function sendAnswer(number: number, shard: Shard): Promise<void> {
  const reply = await answerShard(number, shard);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(reply);
}

async function answerShard(number: number, shard: Shard): Promise<ShardAnswer> {
  try {
    return { number, result: await replayShard(shard, await configurations) };
  } catch (error) {
    const code = error instanceof CoxswainError ? { code: error.code } : {};
    return { number, fault: { ...code, message: messageOf(error) } };
  }
}
