import { LruMap } from './lru-map.ts';

/**
 * Maximum number of open calls. Beyond it the oldest open call is dropped, and its result then counts as a result without a
 * start.
 */
const MAX_OPEN_CALLS = 512;

/**
 * Matches results to calls by id. All code that matches results uses this rule:
 *
 * - Every start is a call. If a call with the same id is already open, that call never receives a result.
 * - A result closes the open call with its id.
 * - Any other result is a separate call whose start was lost.
 *
 * Cost: O(1) per start and result; memory for 512 calls.
 */
export class OpenCalls<Call> {
  readonly #open: LruMap<Call>;

  /** @param calls  open calls, oldest first */
  constructor(calls: Iterable<readonly [string, Call]> = []) {
    this.#open = new LruMap(MAX_OPEN_CALLS, calls);
  }

  get size(): number {
    return this.#open.size;
  }

  begin(id: string, call: Call): void {
    this.#open.set(id, call);
  }

  /** @returns the call that the result closes; undefined if its start was lost */
  end(id: string): Call | undefined {
    const call = this.#open.get(id);
    this.#open.delete(id);
    return call;
  }

  /** Returns the open calls, oldest first. */
  entries(): readonly (readonly [string, Call])[] {
    return this.#open.entries();
  }
}
