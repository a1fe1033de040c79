import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { CoxswainError, messageOf } from '../base/error.ts';
import { parseStoreAddress, shownAddress } from '../store/store-address.ts';
import type { ShardResult } from './run-row.ts';

const SCHEMA = 'coxswain_queue';
const POLL_MS = 500;
/** A shard that no machine has claimed to work on for so long is given to another one. */
const HEARTBEAT_SECONDS = 20;
const TOUCH_MS = 5_000;
/** Longest time for one shard. */
const LONGEST_SECONDS = 23 * 60 * 60;
const RETRIES = 10;
const INSERTED_AT_ONCE = 1_000;

/** What is used of pg-boss. Its own types do not compile where those of packages are checked. */
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

/** What a job gives: JSON as text, so that the bytes are those that were written. */
interface JobOutput {
  readonly result: string;
}

/**
 * The shards of one backtest in a queue of pg-boss, for any number of machines that read the same input: each takes shards that
 * no other one has, and each has all results in the end. A shard whose machine is gone goes to another; what is done stays
 * for seven days, so that the same backtest goes on where it was left.
 */
export class ShardQueue {
  readonly #boss: Boss;
  readonly #name: string;
  readonly #key: string;
  /** Shards whose result is not here yet, in their order. */
  readonly #missing: Set<number>;
  readonly #active = new Set<string>();
  readonly #touching: NodeJS.Timeout;
  readonly #onResult: TakeResult;
  #gathering: Promise<boolean> | undefined;

  private constructor(boss: Boss, key: string, shards: number, onResult: TakeResult) {
    this.#boss = boss;
    this.#key = key;
    this.#name = queueOf(key);
    this.#missing = new Set(Array.from({ length: shards }, (_none, number) => number));
    this.#onResult = onResult;
    this.#touching = setInterval(() => {
      // A machine that cannot reach the queue loses its shards to others, and notices when it has done one.
      if (this.#active.size > 0) boss.touch(this.#name, [...this.#active]).catch(() => undefined);
    }, TOUCH_MS);
  }

  /**
   * Opens the queue of a backtest, or makes it.
   *
   * @param key       tells this input and these configurations from all others
   * @param shards    how many there are
   * @param onResult  receives each result once, whoever worked it out
   * @throws CoxswainError "invalid-argument" for an address that is no database, or without the package `pg-boss`; "store-io"
   *   when the database cannot be used
   */
  static async open(
    address: string,
    { key, shards, onResult }: { readonly key: string; readonly shards: number; readonly onResult: TakeResult },
  ): Promise<ShardQueue> {
    const parsed = parseStoreAddress(address);
    if (parsed.kind !== 'postgres') {
      throw new CoxswainError('invalid-argument', `--queue ${address}: give postgres://USER@HOST/DATABASE`);
    }
    const PgBoss = await loadBoss();
    const { url: connectionString, schema = SCHEMA } = parsed;
    const boss = new PgBoss({ connectionString, schema, supervise: false, schedule: false, monitorIntervalSeconds: 5 });
    // What fails is thrown by the call that it fails.
    boss.on('error', () => undefined);
    try {
      await boss.start();
      await boss.createQueue(queueOf(key), {
        heartbeatSeconds: HEARTBEAT_SECONDS,
        expireInSeconds: LONGEST_SECONDS,
        retryLimit: RETRIES,
      });
      for (let from = 0; from < shards; from += INSERTED_AT_ONCE) {
        const length = Math.min(INSERTED_AT_ONCE, shards - from);
        const jobs = Array.from({ length }, (_none, at) => ({
          id: jobId(key, from + at),
          data: { number: from + at },
        }));
        // One that is there already stays as it is.
        await boss.insert(queueOf(key), jobs);
      }
    } catch (error) {
      await boss.stop({ graceful: false }).catch(() => undefined);
      throw new CoxswainError('store-io', `${shownAddress(address)}: ${messageOf(error)}`, { cause: error });
    }
    return new ShardQueue(boss, key, shards, onResult);
  }

  /**
   * The next shard to work on; waits while others work on the last ones.
   *
   * @returns undefined once every result is here
   * @throws CoxswainError "input-io" for a shard that failed on every machine that tried it
   */
  async take(): Promise<number | undefined> {
    for (;;) {
      const [job] = await this.#boss.fetch(this.#name);
      if (job !== undefined) {
        this.#active.add(job.id);
        return job.data.number;
      }
      this.#gathering ??= this.#gather().finally(() => (this.#gathering = undefined));
      if (await this.#gathering) return undefined;
      await sleep(POLL_MS);
    }
  }

  /** A shard is done. Done twice, it has the same result. */
  async done(number: number, result: ShardResult): Promise<void> {
    const id = jobId(this.#key, number);
    this.#active.delete(id);
    const output: JobOutput = { result: JSON.stringify(result) };
    await this.#boss.complete(this.#name, id, output);
    this.#takeResult(number, result);
  }

  async close(): Promise<void> {
    clearInterval(this.#touching);
    // What was not finished is for others at once.
    if (this.#active.size > 0) await this.#boss.fail(this.#name, [...this.#active]).catch(() => undefined);
    await this.#boss.stop({ graceful: false }).catch(() => undefined);
  }

  /** Reads results of others in order, up to the first that is not there. @returns whether all are here */
  async #gather(): Promise<boolean> {
    for (const number of this.#missing) {
      const id = jobId(this.#key, number);
      const [job] = await this.#boss.findJobs(this.#name, { id });
      if (job?.state === 'failed') {
        throw new CoxswainError('input-io', `shard ${number} failed on every machine: ${JSON.stringify(job.output)}`);
      }
      if (job?.state !== 'completed') {
        // Finds shards whose machine is gone.
        await this.#boss.supervise(this.#name);
        return false;
      }
      // `done` wrote it.
      const { result } = job.output as JobOutput;
      this.#takeResult(number, JSON.parse(result) as ShardResult);
    }
    return true;
  }

  #takeResult(number: number, result: ShardResult): void {
    if (this.#missing.delete(number)) this.#onResult(number, result);
  }
}

async function loadBoss(): Promise<new (options: object) => Boss> {
  const name: string = 'pg-boss';
  try {
    // As its documentation says.
    return ((await import(name)) as { readonly PgBoss: new (options: object) => Boss }).PgBoss;
  } catch (error) {
    throw new CoxswainError('invalid-argument', '--queue needs the package pg-boss: npm install pg-boss', {
      cause: error,
    });
  }
}

function queueOf(key: string): string {
  return `coxswain-backtest-${key}`;
}

/** The id of a shard's job: the same on every machine. */
function jobId(key: string, number: number): string {
  const hash = createHash('sha256').update(`${key}/${number}`).digest('hex');
  return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
}
