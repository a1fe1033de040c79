import type { DecisionPoint } from '../records/guidance.ts';
import type { RunUse, StopPoint } from './stop-points.ts';

/** Something that fired: a piece of advice, or a pattern that was flagged. */
export type FiringKey =
  | { readonly by: 'provider'; readonly name: string; readonly pattern: string | null; readonly point: DecisionPoint }
  | { readonly by: 'pattern'; readonly name: string };

/**
 * What a backtest keeps of a run, small, because all runs are kept: 476 bytes a run were measured with the standard steering on
 * 9,403 runs of SQL. Plain JSON.
 */
export interface RunRow {
  readonly id: string;
  /** Fingerprint of the task's text; empty where the run has none. */
  readonly task: string;
  readonly calls: number;
  /** Null where the run does not say. */
  readonly success: boolean | null;
  /** Asked at the decision points that its own host recorded. */
  readonly own: boolean;
  /** Asked at least once. */
  readonly asked: boolean;
  readonly gap: boolean;
  /** Model-backed classifiers of any configuration that have no recorded verdict in it. */
  readonly unanswered: readonly string[];
  /** By configuration: pairs of a number in `ShardResult.keys` and a call, from 0, in the order of firing. */
  readonly fired: readonly (readonly number[])[];
  /** What the whole run used. */
  readonly use: RunUse;
  /** By configuration: the first stuck warnings. */
  readonly stops: readonly (readonly StopPoint[])[];
}

/** Something that could not be read. Plain JSON. */
export interface ShardProblem {
  readonly path: string;
  /** 1-based. */
  readonly line?: number;
  readonly message: string;
}

/** What came of a shard. Plain JSON. */
export interface ShardResult {
  readonly keys: readonly FiringKey[];
  readonly rows: readonly RunRow[];
  readonly problems: readonly ShardProblem[];
}

/** Numbers for keys, each different key once. */
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
