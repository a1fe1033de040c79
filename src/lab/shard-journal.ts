import { membersOf, isJsonObject, jsonOf } from '../core/base/json.ts';
import { appendFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';

import { canonicalJson } from '../core/base/canonical-json.ts';
import { CoxswainError, messageOf, invalidArgument } from '../core/base/error.ts';
import { checkOutput } from '../core/node/guarded-file.ts';
import { hashText } from '../core/base/hash.ts';
import type { Configuration } from './configuration.ts';
import type { Shard } from './list-shards.ts';
import type { ShardResult } from './run-row.ts';

const VERSION = 5;

/** Returns a fingerprint of the input and the configurations. A journal is only valid for one such combination. */
export function jobKey(shards: readonly Shard[], configurations: readonly Configuration[]): string {
  // The modification time of a store does not indicate a change: reading moves its log into the file, and an open store fills its word
  // index.
  const facts = shards.map((shard) => (shard.kind === 'store' ? shard : [shard, changedAtMs(shard.path)]));
  return hashText(canonicalJson([configurations.map(({ name, hash }) => [name, hash]), facts]));
}

function changedAtMs(path: string): number {
  return path === '-' ? 0 : (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
}

/** JSON lines: a header, then one line per shard. Opening the file truncates an incomplete last line. */
export class ShardJournal {
  readonly #path: string;
  /** Results of earlier sessions, keyed by shard number. */
  readonly done: ReadonlyMap<number, ShardResult>;

  /** Throws CoxswainError "invalid-argument" for another input or configuration, or no journal; "input-io". */
  constructor(path: string, key: string) {
    this.#path = path;
    try {
      checkOutput(path);
      if (!existsSync(path))
        writeFileSync(path, `${JSON.stringify({ coxswain_backtest: VERSION, key })}\n`, { mode: 0o600 });
      this.done = readDone(path, key);
    } catch (error) {
      if (error instanceof CoxswainError) throw error;
      throw new CoxswainError('input-io', `${path}: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Adds a shard. Throws file system errors. */
  add(number: number, result: ShardResult): void {
    appendFileSync(this.#path, `${JSON.stringify({ number, result })}\n`);
  }
}

function readDone(path: string, key: string): ReadonlyMap<number, ShardResult> {
  const bytes = readFileSync(path);
  const whole = bytes.subarray(0, bytes.lastIndexOf(10) + 1);
  const [head = '', ...lines] = whole.toString('utf8').split('\n');
  const facts = membersOf(jsonOf(head));
  if (facts['coxswain_backtest'] !== VERSION) {
    throw invalidArgument(`--resume ${path}: not a backtest journal; name a new file`);
  }
  if (facts['key'] !== key) {
    const reason = 'it belongs to another input or configuration, or the input has changed';
    throw invalidArgument(`--resume ${path}: ${reason}; delete it to start again`);
  }
  if (whole.length < bytes.length) truncateSync(path, whole.length);
  const done = new Map<number, ShardResult>();
  for (const line of lines) {
    const entry = jsonOf(line);
    // The header matches, so this class wrote the line for the same input.
    if (isJsonObject(entry)) done.set(Number(entry['number']), entry['result'] as unknown as ShardResult);
  }
  return done;
}
