import type { Overview } from '../../src/viewer/server/api-shapes.ts';

/** A run from far away: so many calls in each bucket, and nothing else. */
export function overviewOf(calls: readonly number[], seqsPerBucket: number): Overview {
  const zeros = calls.map(() => 0);
  return {
    nextSeq: calls.length * seqsPerBucket,
    complete: true,
    seqsPerBucket,
    buckets: calls.length,
    atMs: zeros,
    turns: zeros,
    calls,
    tokens: [],
    costUsd: [],
    context: [],
    endMs: 0,
    gaps: [],
    errors: zeros,
    messages: zeros,
    firstCall: zeros,
    kinds: { read: calls },
    patternBasis: 'recorded',
    patterns: [],
    patternsLeftOut: 0,
    advice: [],
    adviceLeftOut: 0,
  };
}
