import { LruMap } from './lru-map.ts';

/** Beyond this number the oldest open call is dropped; its result then counts as one without a start. */
const MAX_OPEN_CALLS = 512;

/**
 * Joins results to calls by id. The single rule for this:
 *
 * - Every start is a call. If a call with the same id is open, that one stays without a result.
 * - A result closes the open call with its id.
 * - Any other result is a separate call, whose start was lost.
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

  /** @returns the call of the result; undefined if its start was lost */
  end(id: string): Call | undefined {
    const call = this.#open.get(id);
    this.#open.delete(id);
    return call;
  }

  /** Oldest first. */
  entries(): readonly (readonly [string, Call])[] {
    return this.#open.entries();
  }
}
