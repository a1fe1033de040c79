import { hashText } from '../core/base/hash.ts';
import { UniqueNames } from './parts/skip-counts.ts';

/** Longest run id in UTF-16 units. It is below the limit of the stores. */
const MAX_ID_CHARS = 512;

/**
 * Creates a unique id for every run of a command, even if several sources use the same id. Also tracks the depth of each run
 * in the tree of parents. The same sources in the same order get the same ids.
 *
 * Cost: O(1) amortised; keeps one short string per run.
 */
export class RunIds {
  readonly #names = new UniqueNames();
  /** The last id assigned for a requested id. Contains only ids that differ from the request. */
  readonly #renamed = new Map<string, string>();
  /** Depths of non-root runs. */
  readonly #depths = new Map<string, number>();

  #repeated = 0;

  /**
   * Adds the runs of a source that was read with a `RunIds` of its own. Returns false, and adds none, if they would have
   * other ids here.
   *
   * @param asked  what `latest` was asked for
   */
  adopt(taken: readonly { readonly wanted: string; readonly id: string }[], asked: readonly string[]): boolean {
    const isOther = taken.some(({ id }) => this.#names.has(id)) || asked.some((wanted) => this.#renamed.has(wanted));
    if (!isOther) for (const { wanted } of taken) this.take(wanted);
    return !isOther;
  }

  /** Number of runs whose id was already in use: most are copies of a run. */
  get repeated(): number {
    return this.#repeated;
  }

  /** Returns `wanted` as well-formed text of bounded length. If the id is already in use, it gets the suffix `#2`, `#3` … */
  take(wanted: string): string {
    const name = storable(wanted);
    const id = this.#names.take(name);
    if (id !== name) this.#repeated += 1;
    if (id !== wanted) this.#renamed.set(wanted, id);
    else this.#renamed.delete(wanted);
    return id;
  }

  /** Returns the last id assigned for a source's id. Returns the source's id itself for an unknown run. */
  latest(wanted: string): string {
    return this.#renamed.get(wanted) ?? storable(wanted);
  }

  /** Places a run one level below its parent and returns its depth. The depth is 0 without a parent. */
  place(id: string, parentId: string | undefined): number {
    if (parentId === undefined) return 0;
    const depth = (this.#depths.get(parentId) ?? 0) + 1;
    this.#depths.set(id, depth);
    return depth;
  }
}

function storable(wanted: string): string {
  const id = wanted.toWellFormed();
  if (id === '') return 'run';
  return id.length <= MAX_ID_CHARS ? id : `${id.slice(0, MAX_ID_CHARS - 20).toWellFormed()}~${hashText(id)}`;
}
