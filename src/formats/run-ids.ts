import { hashText } from '../base/hash.ts';
import { UniqueNames } from './parts/unique-names.ts';

/** Longest run id, in UTF-16 units; below the limit of the stores. */
const MAX_ID_CHARS = 512;

/**
 * Gives every run of an invocation a unique id, also if sources use the same one, and tracks the depth of
 * runs in the tree of parents. The same sources in the same order get the same ids.
 *
 * Cost: O(1) amortised; keeps one short string per run.
 */
export class RunIds {
  readonly #names = new UniqueNames();
  /** The last id given for a wanted id, if they differ. */
  readonly #renamed = new Map<string, string>();
  /** Depths of non-root runs. */
  readonly #depths = new Map<string, number>();

  /** `wanted` as well-formed text of bounded length, with the suffix `#2`, `#3` … if it is already in use. */
  take(wanted: string): string {
    const id = this.#names.take(storable(wanted));
    if (id !== wanted) this.#renamed.set(wanted, id);
    else this.#renamed.delete(wanted);
    return id;
  }

  /** The last id given for a source's id; the id itself for an unknown run. */
  latest(wanted: string): string {
    return this.#renamed.get(wanted) ?? storable(wanted);
  }

  /** Puts a run one level below its parent and returns its depth; 0 without a parent. */
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
