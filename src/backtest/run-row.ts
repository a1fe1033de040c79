import type { DecisionPoint } from '../records/guidance.ts';
import type { RunUse, StopPoint } from './stop-points.ts';

/** Something that fired: advice, or a flagged pattern. */
export type FiringKey =
  | { readonly by: 'provider'; readonly name: string; readonly pattern: string | null; readonly point: DecisionPoint }
  | { readonly by: 'pattern'; readonly name: string };

/**
 * The result for one run, small because all rows are kept: 476 bytes with the standard steering on 9,403 runs of SQL. Plain JSON.
 */
export interface RunRow {
  readonly id: string;
  /** Fingerprint of the task's text; empty without a task. */
  readonly task: string;
  readonly calls: number;
  /** Null if not recorded. */
  readonly success: boolean | null;
  /** Evaluated at the decision points that its own host recorded. */
  readonly own: boolean;
  /** Evaluated at least once. */
  readonly evaluated: boolean;
  readonly gap: boolean;
  /** Model-backed classifiers of any configuration without a recorded verdict in this run. */
  readonly unanswered: readonly string[];
  /** By configuration: pairs of an index in `ShardResult.keys` and a 0-based call, in firing order. */
  readonly fired: readonly (readonly number[])[];
  /** Use of the whole run. */
  readonly use: RunUse;
  /** By configuration: the first stuck warnings. */
  readonly stops: readonly (readonly StopPoint[])[];
}

/** A read error. Plain JSON. */
export interface ShardProblem {
  readonly path: string;
  /** 1-based. */
  readonly line?: number;
  readonly message: string;
}

/** The result of a shard. Plain JSON. */
export interface ShardResult {
  readonly keys: readonly FiringKey[];
  readonly rows: readonly RunRow[];
  readonly problems: readonly ShardProblem[];
}

/** Numbers each distinct key. */
export class FiringKeys {
  readonly #numbers = new Map<string, number>();
  readonly #keys: FiringKey[] = [];

  get keys(): readonly FiringKey[] {
    return this.#keys;
  }

  numberOf(key: FiringKey): number {
    const text = key.by === 'pattern' ? key.name : `${key.point} ${key.pattern ?? ''} ${key.name}`;
    const name = `${key.by} ${text}`;
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#keys.length;
    this.#numbers.set(name, number);
    this.#keys.push(key);
    return number;
  }
}
