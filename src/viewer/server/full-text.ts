import { present } from '../../core/base/json.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import { steadyMs } from '../../core/base/clock.ts';
import { phrasesIn } from '../../core/store/search-page.ts';
import type { FoundPlace } from './api-shapes.ts';
import type { ViewerSource } from './viewer-source.ts';
import { waitAtMost } from './wait-at-most.ts';

const MAX_QUERIES = 16;
const PAGE_HITS = 1_000;
/** How long a result is reused while the index is incomplete. A complete result is reused until the source changes. */
const KEEP_MS = 5_000;

export interface FoundRuns {
  readonly places: ReadonlyMap<string, FoundPlace>;
  readonly notIndexed: number;
  readonly isPending: boolean;
}

interface Search {
  readonly places: Map<string, FoundPlace>;
  notIndexed: number;
  isPending: boolean;
  readonly done: Promise<void>;
  endMs: number;
  readonly version: number;
  previous: FoundRuns | undefined;
}

const NO_RUNS: FoundRuns = { places: new Map(), notIndexed: 0, isPending: false };

/** Words with many hits take long, so a search continues in the background. */
export class FullText {
  readonly #source: ViewerSource;
  readonly #searches = new LruMap<Search>(MAX_QUERIES);

  constructor(source: ViewerSource) {
    this.#source = source;
  }

  /** Returns the runs found within `waitMs`. Throws CoxswainError with the errors of the store's search. */
  async findRuns(text: string, waitMs: number): Promise<FoundRuns> {
    if (!hasWords(text)) return NO_RUNS;
    const latest = this.#searches.get(text);
    const search = latest === undefined || this.#isOutdated(latest) ? this.#startSearch(text) : latest;
    this.#searches.set(text, search);
    await waitAtMost(search.done, waitMs);
    // A finished result stays until the next one is complete. Otherwise a long search would never seem to end.
    return search.isPending ? (search.previous ?? search) : search;
  }

  #isOutdated({ endMs, isPending, notIndexed, version }: Search): boolean {
    if (isPending) return false;
    return version !== this.#source.version || (notIndexed > 0 && steadyMs() - endMs > KEEP_MS);
  }

  #startSearch(text: string): Search {
    const { version } = this.#source;
    const previous = this.#searches.get(text);
    const state = { places: new Map(), notIndexed: 0, isPending: true, endMs: 0, version, previous };
    const search: Search = Object.assign(state, { done: this.#runSearch(text, state) });
    // A waiting caller receives the error. A failed search is removed from the cache.
    search.done.catch(() => this.#searches.delete(text));
    return search;
  }

  async #runSearch(text: string, search: Omit<Search, 'done'>): Promise<void> {
    try {
      const reader = await this.#source.reader();
      let after: string | undefined;
      do {
        const page = await reader.search({ text, limit: PAGE_HITS, ...present({ after }) });
        // Hits arrive in descending order, so the last hit read for a run is its first match.
        for (const { runId, seq, snippet } of page.hits) search.places.set(runId, { seq, snippet });
        search.notIndexed = page.notIndexed;
        after = page.next;
      } while (after !== undefined);
    } finally {
      search.isPending = false;
      search.endMs = steadyMs();
      search.previous = undefined;
    }
  }
}

function hasWords(text: string): boolean {
  try {
    return phrasesIn(text).length > 0;
  } catch {
    // The text contains no words. Its length was checked before.
    return false;
  }
}
