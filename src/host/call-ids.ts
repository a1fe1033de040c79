import { LruMap } from '../base/lru-map.ts';

/** How many of the latest ids are remembered, to tell a call whose id is used again from the earlier one. */
const REMEMBERED_IDS = 4_096;

/** Ids under which the calls of a run are recorded: unique, though a model may use the id of a call again. */
export class CallIds {
  readonly #uses = new LruMap<number>(REMEMBERED_IDS);

  /** The id to record the next call under: the host's, and from its second use on with a number, such as `call_1#2`. */
  next(id: string): string {
    const uses = (this.#uses.get(id) ?? 0) + 1;
    this.#uses.set(id, uses);
    return uses === 1 ? id : `${id}#${uses}`;
  }

  /** True for an id that was used, and is remembered. */
  isUsed(id: string): boolean {
    return this.#uses.has(id);
  }
}
