import type { DecisionPoint } from '../core/records/spoken-advice.ts';
import type { RunUse, StopPoint } from './judge-gates.ts';

export type FiringKey =
  | { readonly by: 'provider'; readonly name: string; readonly pattern: string | null; readonly point: DecisionPoint }
  | { readonly by: 'pattern'; readonly name: string };

/** Small because all rows are kept in memory: 476 bytes with the standard steering on 9,403 SQL runs. */
export interface RunRow {
  readonly id: string;
  /** Fingerprint of the task's text. Empty without a task. */
  readonly task: string;
  /** The agent and its model, as one name. Empty if the run records neither. */
  readonly agent: string;
  /** The file from which the run was imported. Empty if it was recorded live. */
  readonly origin: string;
  /** The run that started it. Empty for a session. */
  readonly parent: string;
  readonly calls: number;
  /** Null if the run records no outcome. */
  readonly success: boolean | null;
  /** True if the run was evaluated at the decision points that its own host recorded. */
  readonly own: boolean;
  /** True if recorded advice reached the agent. */
  readonly advised: boolean;
  /** True if the run was evaluated at least once. */
  readonly evaluated: boolean;
  readonly gap: boolean;
  /** Model-backed classifiers, of any configuration, that have no recorded verdict in this run. */
  readonly unanswered: readonly string[];
  /** For each configuration: pairs of an index in `ShardResult.keys` and a 0-based call, in firing order. */
  readonly fired: readonly (readonly number[])[];
  readonly use: RunUse;
  readonly stops: readonly (readonly StopPoint[])[];
}

/** A read error. Plain JSON. */
export interface ShardProblem {
  readonly path: string;
  /** 1-based line number. */
  readonly line?: number;
  readonly message: string;
}

export interface ShardResult {
  readonly keys: readonly FiringKey[];
  readonly rows: readonly RunRow[];
  readonly problems: readonly ShardProblem[];
}

export class FiringKeys {
  readonly #numbers = new Map<string, number>();
  readonly #keys: FiringKey[] = [];

  get keys(): readonly FiringKey[] {
    return this.#keys;
  }

  numberOf(key: FiringKey): number {
    const text = key.by === 'pattern' ? key.name : `${key.point} ${key.pattern ?? ''} ${key.name}`;
    const name = `${key.by} ${text}`;
    const knownNumber = this.#numbers.get(name);
    if (knownNumber !== undefined) return knownNumber;
    const number = this.#keys.length;
    this.#numbers.set(name, number);
    this.#keys.push(key);
    return number;
  }
}
