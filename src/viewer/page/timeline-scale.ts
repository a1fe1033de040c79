import type { Overview } from '../server/api-shapes.ts';

/** Maps records to positions. Records are evenly spaced, or placed by time with shortened idle periods. */
export interface TimelineScale {
  /** The length of the whole run. Positions range from 0 to this value. */
  readonly length: number;
  /** Returns the position of a record. */
  readonly placeOf: (seq: number) => number;
  /** Returns the record at a position. */
  readonly seqAt: (place: number) => number;
}

/** The displayed length of an idle period, as a share of the active time. */
const IDLE_SHARE = 1 / 40;
/** The minimum length of all buckets together, as a share of the active time. It keeps simultaneous records apart. */
const LEAST_SHARE = 1 / 5;

/** A scale on which all records have the same width. */
export function recordScale({ nextSeq }: Overview): TimelineScale {
  return { length: Math.max(1, nextSeq), placeOf: (seq) => seq, seqAt: (place) => Math.floor(place) };
}

/** A scale by time. Undefined if the records have no times. */
export function timeScale(overview: Overview): TimelineScale | undefined {
  const { atMs, buckets, endMs, gaps, seqsPerBucket } = overview;
  const idle = new Float64Array(buckets);
  for (const { ms, seq } of gaps) {
    // The time before a bucket's first record belongs to the previous bucket.
    const bucket = Math.floor((seq - 1) / seqsPerBucket);
    idle[bucket] = (idle[bucket] ?? 0) + ms;
  }
  const spans = new Float64Array(buckets);
  let nextMs = endMs;
  for (let bucket = buckets - 1; bucket >= 0; bucket -= 1) {
    const ms = atMs[bucket] ?? 0;
    if (ms === 0) continue;
    spans[bucket] = Math.max(0, nextMs - ms - (idle[bucket] ?? 0));
    nextMs = ms;
  }
  const active = spans.reduce((sum, ms) => sum + ms, 0);
  if (active === 0) return undefined;
  const starts = new Float64Array(buckets + 1);
  for (let bucket = 0; bucket < buckets; bucket += 1) {
    const idleLength = Math.min(idle[bucket] ?? 0, active * IDLE_SHARE);
    starts[bucket + 1] = (starts[bucket] ?? 0) + (spans[bucket] ?? 0) + idleLength + (active * LEAST_SHARE) / buckets;
  }
  const placeOf = (seq: number): number => {
    const bucket = Math.max(0, Math.min(buckets - 1, Math.floor(seq / seqsPerBucket)));
    const start = starts[bucket] ?? 0;
    return start + ((seq - bucket * seqsPerBucket) / seqsPerBucket) * ((starts[bucket + 1] ?? start) - start);
  };
  const seqAt = (place: number): number => {
    let [low, high] = [0, buckets - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= place) low = middle;
      else high = middle - 1;
    }
    const start = starts[low] ?? 0;
    const share = (place - start) / Math.max(1e-9, (starts[low + 1] ?? start) - start);
    return Math.floor((low + Math.min(0.999, share)) * seqsPerBucket);
  };
  return { length: starts[buckets] ?? 1, placeOf, seqAt };
}

/** Returns the milliseconds from the start of the run to a record. Undefined if unknown. */
export function elapsedMs({ atMs, seqsPerBucket }: Overview, seq: number): number | undefined {
  const startMs = atMs.find((ms) => ms > 0);
  const recordMs = atMs.slice(0, Math.floor(seq / seqsPerBucket) + 1).findLast((ms) => ms > 0);
  return startMs === undefined || recordMs === undefined ? undefined : recordMs - startMs;
}
