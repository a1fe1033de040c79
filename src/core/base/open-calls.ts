import { LruMap } from './lru-map.ts';

/** Beyond it the oldest open call is forgotten. */
const MAX_OPEN_CALLS = 512;

/**
 * All code that matches results uses this rule: every start is a call, and a call with the same open id never receives
 * a result; a result closes the open call with its id, else one that was forgotten, if there is one; any other is a call
 * whose start was lost. Cost: O(1); memory for 512 calls.
 */
export class OpenCalls<Call> {
  readonly #open: LruMap<Call>;
  #forgotten = 0;

  constructor(calls: Iterable<readonly [string, Call]> = []) {
    this.#open = new LruMap(MAX_OPEN_CALLS, calls);
  }

  begin(id: string, call: Call): void {
    if (this.#open.size >= MAX_OPEN_CALLS && !this.#open.has(id)) this.#forgotten += 1;
    this.#open.set(id, call);
  }

  /** @returns the call that the result closes; undefined if its start was lost */
  end(id: string): Call | 'forgotten' | undefined {
    const call = this.#open.get(id);
    this.#open.delete(id);
    if (call !== undefined || this.#forgotten === 0) return call;
    this.#forgotten -= 1;
    return 'forgotten';
  }

  entries(): readonly (readonly [string, Call])[] {
    return this.#open.entries();
  }
}
