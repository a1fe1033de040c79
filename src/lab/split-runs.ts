import { invalidArgument } from '../core/base/error.ts';
import { hashText } from '../core/base/hash.ts';

/** A split of the runs by task. */
export interface Split {
  readonly name: string;
  /** The share of the named part, above 0 and below 1. */
  readonly share: number;
}

/** Name of the part with the remaining runs. */
const REST = 'test';

/** Parses a split such as `dev=0.7`. @throws CoxswainError "invalid-argument" */
export function parseSplit(text: string): Split {
  const [, name, share] = /^([\w-]{1,32})=(0?\.\d+)$/.exec(text) ?? [];
  if (name !== undefined && share !== undefined && Number(share) > 0 && name !== REST) {
    return { name, share: Number(share) };
  }
  throw invalidArgument(`--split ${text}: give a name and a share, such as dev=0.7`);
}

/** Returns the names of the parts in order. Without a split, the only part is `all`. */
export function partNames(split: Split | undefined): readonly string[] {
  return split === undefined ? ['all'] : [split.name, REST];
}

/**
 * Returns the part of a task. All runs of a task are in the same part, so a threshold is never tested on a task that was used to choose
 * it. The part comes from a hash, so adding runs does not move other runs.
 *
 * @param task  fingerprint of the task, or the run's id if there is no task
 */
export function partOf(task: string, split: Split | undefined): string {
  if (split === undefined) return 'all';
  const place = Number.parseInt(hashText(`split ${task}`).slice(0, 8), 16) / 2 ** 32;
  return place < split.share ? split.name : REST;
}
