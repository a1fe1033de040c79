import { present } from '../../base/present.ts';
import { LruMap } from '../../base/lru-map.ts';
import { steadyMs } from '../../base/steady-ms.ts';
import { phrasesIn } from '../../store/words-in.ts';
import type { FoundPlace } from './api-shapes.ts';
import type { ViewerSource } from './viewer-source.ts';
import { waitAtMost } from './wait-at-most.ts';

const MAX_QUERIES = 16;
const PAGE_HITS = 1_000;
/** A result is reused for so long. */
const KEEP_MS = 5_000;

/** The runs of a source that contain the words. */
export interface FoundRuns {
  /** The earliest place found in each run. */
  readonly places: ReadonlyMap<string, FoundPlace>;
  readonly notIndexed: number;
  /** The search is still running. */
  readonly isPending: boolean;
}

interface Search {
  readonly places: Map<string, FoundPlace>;
  notIndexed: number;
  isPending: boolean;
  readonly done: Promise<void>;
  readonly startMs: number;
}

const NOTHING: FoundRuns = { places: new Map(), notIndexed: 0, isPending: false };

/**
 * Finds the runs of one source whose records contain words, with the store's own search. Words with very many hits take a while, so
 * the search continues in the background.
 */
export class FullText {
  readonly #source: ViewerSource;
  readonly #searches = new LruMap<Search>(MAX_QUERIES);

  constructor(source: ViewerSource) {
    this.#source = source;
  }

  /**
   * The runs found within `waitMs`; the search continues in the background. A text without words finds nothing.
   *
   * @throws CoxswainError as the store's search
   */
  async find(text: string, waitMs: number): Promise<FoundRuns> {
    if (!hasWords(text)) return NOTHING;
    const known = this.#searches.get(text);
    const isFresh = known !== undefined && (known.isPending || steadyMs() - known.startMs < KEEP_MS);
    const search = isFresh ? known : this.#start(text);
    this.#searches.set(text, search);
    await waitAtMost(search.done, waitMs);
    return search;
  }

  #start(text: string): Search {
    const begun: Omit<Search, 'done'> = { places: new Map(), notIndexed: 0, isPending: true, startMs: steadyMs() };
    const search: Search = Object.assign(begun, { done: this.#run(text, begun) });
    // A caller that waits gets the error; a failed search is forgotten.
    search.done.catch(() => this.#searches.delete(text));
    return search;
  }

  async #run(text: string, search: Omit<Search, 'done'>): Promise<void> {
    try {
      const reader = await this.#source.reader();
      let after: string | undefined;
      do {
        const found = await reader.search({ text, limit: PAGE_HITS, ...present({ after }) });
        // The latest hits come first, so the last one read is the run's first.
        for (const { runId, seq, snippet } of found.hits) search.places.set(runId, { seq, snippet });
        search.notIndexed = found.notIndexed;
        after = found.next;
      } while (after !== undefined);
    } finally {
      search.isPending = false;
    }
  }
}

function hasWords(text: string): boolean {
  try {
    return phrasesIn(text).length > 0;
  } catch {
    // Without words. Its length was checked before.
    return false;
  }
}
