import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import {
  compareHits,
  storedKind,
  toHit,
  toSearchPage,
  type CheckedSearchQuery,
  type SearchPlace,
} from './search-page.ts';
import type { SearchHit, SearchPage } from './trajectory-store.ts';

/** A search without an index: every record is offered, in any order. */
export interface SearchScan {
  offer(record: TrajectoryRecord): void;
  /** The page, once all were offered. */
  page(): SearchPage;
}

/** Cost: `offer` looks through the record's text unless time, run or kind rule it out; memory is one page of hits. */
export function createSearchScan(query: CheckedSearchQuery): SearchScan {
  const { after, limit, phrases } = query;
  const kinds = query.kinds === undefined ? undefined : new Set(query.kinds);
  /** In order, up to `limit + 1`. */
  const hits: SearchHit[] = [];

  function isWanted(record: TrajectoryRecord, place: SearchPlace): boolean {
    if (query.runId !== undefined && query.runId !== place.runId) return false;
    if (kinds !== undefined && !kinds.has(storedKind(record))) return false;
    if (after !== undefined && compareHits(after, place) >= 0) return false;
    const last = hits.at(-1);
    return hits.length <= limit || last === undefined || compareHits(place, last) < 0;
  }

  return {
    offer(record): void {
      const place = { atMs: record.recorded_at_unix_ms, runId: record.run_id ?? '', seq: record.seq };
      if (!isWanted(record, place)) return;
      const hit = toHit(record, phrases);
      if (hit === undefined) return;
      const index = hits.findIndex((other) => compareHits(hit, other) < 0);
      hits.splice(index < 0 ? hits.length : index, 0, hit);
      if (hits.length > limit + 1) hits.pop();
    },
    page: () => toSearchPage(hits, limit),
  };
}
