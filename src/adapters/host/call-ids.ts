import { LruMap } from '../../core/base/lru-map.ts';

/** Number of recent ids that are remembered to detect reuse. */
const REMEMBERED_IDS = 4_096;

/** Creates unique ids for recorded calls, because a model may reuse an id. */
export class CallIds {
  readonly #uses = new LruMap<number>(REMEMBERED_IDS);

  /** Returns the id to record. It is the host's id; repeated ids get a number, such as `call_1#2`. */
  next(id: string): string {
    const uses = (this.#uses.get(id) ?? 0) + 1;
    this.#uses.set(id, uses);
    return uses === 1 ? id : `${id}#${uses}`;
  }

  /** Returns true if the id is among the remembered ones. */
  isUsed(id: string): boolean {
    return this.#uses.has(id);
  }
}
