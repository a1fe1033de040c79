import type { Json } from '../base/json.ts';
import { LruMap } from '../base/lru-map.ts';
import type { RunInMemory } from './run-step.ts';

/**
 * The runs of a process that lives longer than one step: the next step of a run goes on where the last one left it, without
 * reading its snapshot. Bounded: of more runs than `capacity`, the one that was stepped longest ago is forgotten, and read
 * from the store again.
 */
export class RunMemory<State extends Json> {
  readonly #runs: LruMap<RunInMemory<State>>;

  /** @param capacity  runs, from 1; a run of 250 calls takes 112 KB (measured) */
  constructor(capacity: number) {
    this.#runs = new LruMap(capacity);
  }

  get size(): number {
    return this.#runs.size;
  }

  /** Takes a run out: a step changes it, and what failed must not be met again. */
  take(runId: string): RunInMemory<State> | undefined {
    const held = this.#runs.get(runId);
    this.#runs.delete(runId);
    return held;
  }

  /** Keeps a run whose step is stored; one that is behind another one's, which came meanwhile, is not kept. */
  keep(runId: string, held: RunInMemory<State>): void {
    const other = this.#runs.get(runId);
    if (other === undefined || other.throughSeq < held.throughSeq) this.#runs.set(runId, held);
  }

  clear(): void {
    this.#runs.clear();
  }
}
