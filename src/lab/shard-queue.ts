import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { CoxswainError, invalidArgument, messageOf } from '../core/base/error.ts';
import { parseStoreAddress, shownAddress } from '../stores/store-address.ts';
import type { ShardResult } from './run-row.ts';

const SCHEMA = 'coxswain_queue';
const POLL_MS = 500;
/** If a shard sends no heartbeat for this time, another machine takes it. */
const HEARTBEAT_SECONDS = 20;
const TOUCH_MS = 5_000;
/** Maximum time for one shard. */
const LONGEST_SECONDS = 23 * 60 * 60;
const RETRIES = 10;
const INSERTED_AT_ONCE = 1_000;

/** The part of pg-boss that this file uses. Its own types do not compile with `skipLibCheck: false`. */
interface Boss {
  on(event: 'error', listener: () => void): unknown;
  start(): Promise<unknown>;
  stop(options: { readonly graceful: boolean }): Promise<void>;
  createQueue(name: string, options: object): Promise<void>;
  insert(name: string, jobs: readonly { readonly id: string; readonly data: object }[]): Promise<unknown>;
  fetch(name: string): Promise<readonly { readonly id: string; readonly data: { readonly number: number } }[]>;
  touch(name: string, ids: readonly string[]): Promise<unknown>;
  complete(name: string, id: string, output: object): Promise<unknown>;
  fail(name: string, ids: readonly string[]): Promise<unknown>;
  findJobs(name: string, by: { readonly id: string }): Promise<readonly { state: string; output: unknown }[]>;
  supervise(name: string): Promise<void>;
}

type TakeResult = (number: number, result: ShardResult) => void;

/** The output of a job. The JSON is stored as text, so its bytes do not change. */
interface JobOutput {
  readonly result: string;
}

/** Machines with the same input share the shards and results, also of one that disappears. Kept for seven days, to resume. */
export class ShardQueue {
  readonly #boss: Boss;
  readonly #name: string;
  readonly #key: string;
  /** Shards whose result has not arrived yet, in order. */
  readonly #missingShards: Set<number>;
  readonly #activeJobs = new Set<string>();
  readonly #touchTimer: NodeJS.Timeout;
  readonly #onResult: TakeResult;
  #gathering: Promise<boolean> | undefined;

  private constructor(boss: Boss, key: string, shards: number, onResult: TakeResult) {
    this.#boss = boss;
    this.#key = key;
    this.#name = queueOf(key);
    this.#missingShards = new Set(Array.from({ length: shards }, (_none, number) => number));
    this.#onResult = onResult;
    this.#touchTimer = setInterval(() => {
      // A machine that cannot reach the queue loses its shards. It notices this when it completes one.
      if (this.#activeJobs.size > 0) boss.touch(this.#name, [...this.#activeJobs]).catch(() => undefined);
    }, TOUCH_MS);
  }

  /**
   * @param onResult  receives each result once, from any machine
   * @throws CoxswainError "invalid-argument" if the address is not a database or the package `pg-boss` is missing;
   * "store-io" if the database fails
   */
  static async open(
    address: string,
    { key, shards, onResult }: { readonly key: string; readonly shards: number; readonly onResult: TakeResult },
  ): Promise<ShardQueue> {
    const parsed = parseStoreAddress(address);
    if (parsed.kind !== 'postgres') {
      throw invalidArgument(`--queue ${address}: give postgres://USER@HOST/DATABASE`);
    }
    const PgBoss = await loadBoss();
    const { url: connectionString, schema = SCHEMA } = parsed;
    const boss = new PgBoss({ connectionString, schema, supervise: false, schedule: false, monitorIntervalSeconds: 5 });
    // The failing call throws the error itself.
    boss.on('error', () => undefined);
    try {
      await boss.start();
      await boss.createQueue(queueOf(key), {
        heartbeatSeconds: HEARTBEAT_SECONDS,
        expireInSeconds: LONGEST_SECONDS,
        retryLimit: RETRIES,
      });
      for (let start = 0; start < shards; start += INSERTED_AT_ONCE) {
        const length = Math.min(INSERTED_AT_ONCE, shards - start);
        const jobs = Array.from({ length }, (_none, index) => ({
          id: jobId(key, start + index),
          data: { number: start + index },
        }));
        // Inserting a job that exists leaves it unchanged.
        await boss.insert(queueOf(key), jobs);
      }
    } catch (error) {
      await boss.stop({ graceful: false }).catch(() => undefined);
      throw new CoxswainError('store-io', `${shownAddress(address)}: ${messageOf(error)}`, { cause: error });
    }
    return new ShardQueue(boss, key, shards, onResult);
  }

  /** Waits for the last shards of other machines; then undefined. Throws CoxswainError "input-io" if all failed at one. */
  async take(): Promise<number | undefined> {
    for (;;) {
      const [job] = await this.#boss.fetch(this.#name);
      if (job !== undefined) {
        this.#activeJobs.add(job.id);
        return job.data.number;
      }
      this.#gathering ??= this.#gatherResults().finally(() => (this.#gathering = undefined));
      if (await this.#gathering) return undefined;
      await sleep(POLL_MS);
    }
  }

  async done(number: number, result: ShardResult): Promise<void> {
    const id = jobId(this.#key, number);
    this.#activeJobs.delete(id);
    const output: JobOutput = { result: JSON.stringify(result) };
    await this.#boss.complete(this.#name, id, output);
    this.#takeResult(number, result);
  }

  async close(): Promise<void> {
    clearInterval(this.#touchTimer);
    // Releases unfinished shards to other machines.
    if (this.#activeJobs.size > 0) await this.#boss.fail(this.#name, [...this.#activeJobs]).catch(() => undefined);
    await this.#boss.stop({ graceful: false }).catch(() => undefined);
  }

  /** Reads the results of other machines in order, up to the first missing one. Returns true if all have arrived. */
  async #gatherResults(): Promise<boolean> {
    for (const number of this.#missingShards) {
      const id = jobId(this.#key, number);
      const [job] = await this.#boss.findJobs(this.#name, { id });
      if (job?.state === 'failed') {
        throw new CoxswainError('input-io', `shard ${number} failed on every machine: ${JSON.stringify(job.output)}`);
      }
      if (job?.state !== 'completed') {
        // Finds the shards of machines that disappeared.
        await this.#boss.supervise(this.#name);
        return false;
      }
      // `done` wrote this output.
      const { result } = job.output as JobOutput;
      this.#takeResult(number, JSON.parse(result) as ShardResult);
    }
    return true;
  }

  #takeResult(number: number, result: ShardResult): void {
    if (this.#missingShards.delete(number)) this.#onResult(number, result);
  }
}

async function loadBoss(): Promise<new (options: object) => Boss> {
  const name: string = 'pg-boss';
  try {
    // The cast follows the documentation of pg-boss.
    return ((await import(name)) as { readonly PgBoss: new (options: object) => Boss }).PgBoss;
  } catch (error) {
    throw invalidArgument('--queue needs the package pg-boss: npm install pg-boss', { cause: error });
  }
}

function queueOf(key: string): string {
  return `coxswain-backtest-${key}`;
}

/** Returns the job id of a shard. It is the same on every machine. */
function jobId(key: string, number: number): string {
  const hash = createHash('sha256').update(`${key}/${number}`).digest('hex');
  return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
}
