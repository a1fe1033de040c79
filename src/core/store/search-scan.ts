import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { compareHits, storedKind, toHit, type CheckedSearchQuery, type SearchPlace } from './search-page.ts';
import type { SearchHit } from './trajectory-store.ts';

/** A search without an index. Call `offer` with every record, in any order. */
export interface SearchScan {
  offer(record: TrajectoryRecord): void;
  /** Returns up to `limit + 1` results, in order. */
  readonly hits: readonly SearchHit[];
}

/** Cost: `offer` reads the text of a record unless its time, run or kind exclude it. Memory is one page of results. */
export function createSearchScan(query: CheckedSearchQuery): SearchScan {
  const { after, limit, phrases } = query;
  const kinds = query.kinds === undefined ? undefined : new Set(query.kinds);
  const hits: SearchHit[] = [];

  function isCandidate(record: TrajectoryRecord, place: SearchPlace): boolean {
    if (query.runId !== undefined && query.runId !== place.runId) return false;
    if (kinds !== undefined && !kinds.has(storedKind(record))) return false;
    if (after !== undefined && compareHits(after, place) >= 0) return false;
    const lastHit = hits.at(-1);
    return hits.length <= limit || lastHit === undefined || compareHits(place, lastHit) < 0;
  }

  return {
    offer(record): void {
      const place = { atMs: record.recorded_at_unix_ms, runId: record.run_id ?? '', seq: record.seq };
      const hit = isCandidate(record, place) ? toHit(record, phrases) : undefined;
      if (hit === undefined) return;
      let [low, high] = [0, hits.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        const otherHit = hits[middle];
        if (otherHit !== undefined && compareHits(hit, otherHit) > 0) low = middle + 1;
        else high = middle;
      }
      hits.splice(low, 0, hit);
      if (hits.length > limit + 1) hits.pop();
    },
    hits,
  };
}
