import { invalidArgument } from '../base/error.ts';
import { hashText } from '../base/hash.ts';

/** A division of the runs by task. */
export interface Split {
  readonly name: string;
  /** Above 0, below 1. */
  readonly share: number;
}

/** Name of the other part. */
const REST = 'test';

/** Reads `dev=0.7`. @throws CoxswainError "invalid-argument" */
export function parseSplit(text: string): Split {
  const [, name, share] = /^([\w-]{1,32})=(0?\.\d+)$/.exec(text) ?? [];
  if (name !== undefined && share !== undefined && Number(share) > 0 && name !== REST) {
    return { name, share: Number(share) };
  }
  throw invalidArgument(`--split ${text}: give a name and a share, such as dev=0.7`);
}

/** The names of the parts, in order; without a split, `all`. */
export function partNames(split: Split | undefined): readonly string[] {
  return split === undefined ? ['all'] : [split.name, REST];
}

/**
 * The part of a task. All runs of a task are in one part, so thresholds are never tried on a task that they were chosen on. By hash,
 * so a run keeps its part when others are added.
 *
 * @param task  its fingerprint, or the run's id without a task
 */
export function partOf(task: string, split: Split | undefined): string {
  if (split === undefined) return 'all';
  const place = Number.parseInt(hashText(`split ${task}`).slice(0, 8), 16) / 2 ** 32;
  return place < split.share ? split.name : REST;
}
