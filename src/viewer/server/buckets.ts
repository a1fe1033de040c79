import type { ToolKind } from '../../calls/tool-kind.ts';
import type { Overview } from './api-shapes.ts';

const MAX_BUCKETS = 2_000;

/** Counts of one bucket. */
interface Bucket {
  atMs: number;
  turns: number;
  messages: number;
  calls: number;
  errors: number;
  firstCall: number;
  /** Of the model's answers. */
  tokens: number;
  costUsd: number;
  /** What the last answer in it read; 0 where none says. */
  context: number;
  readonly kinds: Partial<Record<ToolKind, number>>;
}

/** The lists of an overview. */
export type BucketLists = Pick<
  Overview,
  | 'seqsPerBucket'
  | 'buckets'
  | 'atMs'
  | 'turns'
  | 'messages'
  | 'calls'
  | 'errors'
  | 'firstCall'
  | 'kinds'
  | 'tokens'
  | 'costUsd'
  | 'context'
>;

/**
 * Counts what happens in a run by stretches of records: one record a bucket at first, 2, 4, 8 … once there are more than
 * 2,000.
 *
 * Cost: O(1) amortised a count; memory for 2,000 buckets.
 */
export class Buckets {
  #buckets: Bucket[] = [];
  #seqsPerBucket = 1;

  /** Takes notice of a record. @param calls  calls that had begun before it */
  touch(seq: number, atMs: number, calls: number): void {
    const bucket = this.#at(seq, calls);
    if (bucket.atMs === 0 && atMs > 0) bucket.atMs = atMs;
  }

  /** @param by  default 1 */
  count(seq: number, what: 'turns' | 'messages' | 'calls' | 'errors' | 'tokens' | 'costUsd', by = 1): void {
    this.#at(seq, 0)[what] += by;
  }

  /** An answer of the model read so many tokens. */
  context(seq: number, tokens: number): void {
    this.#at(seq, 0).context = tokens;
  }

  /** A call of this kind began. */
  kind(seq: number, kind: ToolKind): void {
    const { kinds } = this.#at(seq, 0);
    kinds[kind] = (kinds[kind] ?? 0) + 1;
  }

  lists(): BucketLists {
    const buckets = this.#buckets;
    const names = new Set(buckets.flatMap(({ kinds }) => Object.keys(kinds)));
    const kinds: Partial<Record<ToolKind, readonly number[]>> = {};
    for (const name of names) {
      // The names are the keys of these objects.
      const kind = name as ToolKind;
      kinds[kind] = buckets.map((bucket) => bucket.kinds[kind] ?? 0);
    }
    return {
      seqsPerBucket: this.#seqsPerBucket,
      buckets: buckets.length,
      atMs: buckets.map(({ atMs }) => atMs),
      turns: buckets.map(({ turns }) => turns),
      messages: buckets.map(({ messages }) => messages),
      calls: buckets.map(({ calls }) => calls),
      errors: buckets.map(({ errors }) => errors),
      tokens: buckets.map(({ tokens }) => tokens),
      costUsd: buckets.map(({ costUsd }) => Math.round(costUsd * 1e6) / 1e6),
      context: buckets.map(({ context }) => context),
      firstCall: buckets.map(({ firstCall }) => firstCall),
      kinds,
    };
  }

  #at(seq: number, calls: number): Bucket {
    while (Math.floor(seq / this.#seqsPerBucket) >= MAX_BUCKETS) this.#merge();
    const index = Math.floor(seq / this.#seqsPerBucket);
    // A gap in `seq` leaves buckets in which nothing is known.
    while (this.#buckets.length <= index) this.#buckets.push(newBucket(calls));
    // It was made just now, if it was not there.
    return this.#buckets[index] as Bucket;
  }

  #merge(): void {
    const merged: Bucket[] = [];
    for (const [index, bucket] of this.#buckets.entries()) {
      const into = merged[Math.floor(index / 2)];
      if (into === undefined) {
        merged.push(bucket);
        continue;
      }
      if (into.atMs === 0) into.atMs = bucket.atMs;
      into.turns += bucket.turns;
      into.messages += bucket.messages;
      into.calls += bucket.calls;
      into.errors += bucket.errors;
      into.tokens += bucket.tokens;
      into.costUsd += bucket.costUsd;
      if (bucket.context > 0) into.context = bucket.context;
      for (const [name, count] of Object.entries(bucket.kinds)) {
        // The names are the keys of this object.
        const kind = name as ToolKind;
        into.kinds[kind] = (into.kinds[kind] ?? 0) + count;
      }
    }
    this.#buckets = merged;
    this.#seqsPerBucket *= 2;
  }
}

function newBucket(firstCall: number): Bucket {
  return {
    atMs: 0,
    turns: 0,
    messages: 0,
    calls: 0,
    errors: 0,
    tokens: 0,
    costUsd: 0,
    context: 0,
    firstCall,
    kinds: {},
  };
}
