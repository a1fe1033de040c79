import type { Overview } from './api-shapes.ts';

const MAX_BUCKETS = 2_000;

const COUNTERS = ['calls', 'errors', 'tokens', 'costUsd'] as const;
type Counter = (typeof COUNTERS)[number];

interface Bucket extends Record<Counter, number> {
  atMs: number;
  firstCall: number;
}

/** The list fields of an overview. */
export type BucketLists = Pick<Overview, 'seqsPerBucket' | 'buckets' | 'atMs' | 'firstCall' | Counter>;

/**
 * Counts the events of a run per range of records. Each bucket covers one record at first. The size doubles as needed to stay within
 * 2,000 buckets.
 *
 * Cost: amortised O(1) per count; memory for 2,000 buckets.
 */
export class Buckets {
  #buckets: Bucket[] = [];
  #seqsPerBucket = 1;

  /** Adds a record. @param calls  number of calls that started before the record */
  addRecord(seq: number, atMs: number, calls: number): void {
    const bucket = this.#bucketAt(seq, calls);
    if (bucket.atMs === 0 && atMs > 0) bucket.atMs = atMs;
  }

  /** @param by  default 1 */
  count(seq: number, counter: Counter, by = 1): void {
    this.#bucketAt(seq, 0)[counter] += by;
  }

  lists(): BucketLists {
    const buckets = this.#buckets;
    const valuesOf = (name: Counter | 'atMs' | 'firstCall'): readonly number[] => buckets.map((bucket) => bucket[name]);
    return {
      seqsPerBucket: this.#seqsPerBucket,
      buckets: buckets.length,
      atMs: valuesOf('atMs'),
      calls: valuesOf('calls'),
      errors: valuesOf('errors'),
      tokens: valuesOf('tokens'),
      costUsd: valuesOf('costUsd').map((costUsd) => Math.round(costUsd * 1e6) / 1e6),
      firstCall: valuesOf('firstCall'),
    };
  }

  #bucketAt(seq: number, calls: number): Bucket {
    while (Math.floor(seq / this.#seqsPerBucket) >= MAX_BUCKETS) this.#merge();
    const index = Math.floor(seq / this.#seqsPerBucket);
    // A gap in `seq` leaves empty buckets.
    while (this.#buckets.length <= index) this.#buckets.push(newBucket(calls));
    // The loop above created it.
    return this.#buckets[index] as Bucket;
  }

  #merge(): void {
    const mergedBuckets: Bucket[] = [];
    for (const [index, bucket] of this.#buckets.entries()) {
      const target = mergedBuckets[Math.floor(index / 2)];
      if (target === undefined) {
        mergedBuckets.push(bucket);
        continue;
      }
      if (target.atMs === 0) target.atMs = bucket.atMs;
      for (const counter of COUNTERS) target[counter] += bucket[counter];
    }
    this.#buckets = mergedBuckets;
    this.#seqsPerBucket *= 2;
  }
}

function newBucket(firstCall: number): Bucket {
  return { atMs: 0, calls: 0, errors: 0, tokens: 0, costUsd: 0, firstCall };
}
