import { LruMap } from './lru-map.ts';

/** Calls that may be open at once. Of more, the one that began first is forgotten; its result is then one whose start was lost. */
const MAX_OPEN_CALLS = 512;

/**
 * Joins results to the calls that they belong to, by call id. This is the one rule for it:
 *
 * - Every start is a call, also one with the id of a call that is still open, which then stays without a result.
 * - A result belongs to the open call of its id and closes it.
 * - Any other result is a call of its own, whose start was lost.
 *
 * Cost: O(1) a start and a result; memory for 512 calls.
 */
export class OpenCalls<Call> {
  readonly #open: LruMap<Call>;

  /** @param calls  those that are open, the one that began first at the front */
  constructor(calls: Iterable<readonly [string, Call]> = []) {
    this.#open = new LruMap(MAX_OPEN_CALLS, calls);
  }

  get size(): number {
    return this.#open.size;
  }

  begin(id: string, call: Call): void {
    this.#open.set(id, call);
  }

  /** @returns the call that the result belongs to; undefined when its start was lost */
  end(id: string): Call | undefined {
    const call = this.#open.get(id);
    this.#open.delete(id);
    return call;
  }

  /** The one that began first at the front. */
  entries(): readonly (readonly [string, Call])[] {
    return this.#open.entries();
  }
}
