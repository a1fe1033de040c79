import { setTimeout as sleep } from 'node:timers/promises';

import { present } from '../../base/present.ts';
import { LruMap } from '../../base/lru-map.ts';
import { steadyMs } from '../../base/steady-ms.ts';
import { phrasesIn } from '../../store/words-in.ts';
import type { FoundPlace } from './api-shapes.ts';
import type { ViewerSource } from './viewer-source.ts';

const MAX_QUERIES = 16;
const PAGE_HITS = 1_000;
/** How long what was found is not looked for again. */
const KEEP_MS = 5_000;

/** The runs of a source in which the words were found. */
export interface FoundRuns {
  /** The earliest place that was found in each. */
  readonly places: ReadonlyMap<string, FoundPlace>;
  readonly notIndexed: number;
  /** The search is not at its end yet. */
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
 * Finds the runs of one source whose records hold words, by the store's own search. What stands in very many records takes a while: the
 * search goes on in the background until all of them were seen.
 */
export class FullText {
  readonly #source: ViewerSource;
  readonly #searches = new LruMap<Search>(MAX_QUERIES);

  constructor(source: ViewerSource) {
    this.#source = source;
  }

  /**
   * What was found within `waitMs`; the search goes on in the background.
   *
   * @throws CoxswainError as the store's search, but not for a text without words, which finds nothing
   */
  async find(text: string, waitMs: number): Promise<FoundRuns> {
    if (!holdsWords(text)) return NOTHING;
    const known = this.#searches.get(text);
    const isFresh = known !== undefined && (known.isPending || steadyMs() - known.startMs < KEEP_MS);
    const search = isFresh ? known : this.#start(text);
    this.#searches.set(text, search);
    const stop = new AbortController();
    const timer = sleep(waitMs, undefined, { signal: stop.signal, ref: false }).catch(() => {});
    try {
      await Promise.race([search.done, timer]);
    } finally {
      stop.abort();
    }
    return search;
  }

  #start(text: string): Search {
    const begun: Omit<Search, 'done'> = { places: new Map(), notIndexed: 0, isPending: true, startMs: steadyMs() };
    const search: Search = Object.assign(begun, { done: this.#run(text, begun) });
    // Whoever waits meets the fault; a search that nobody waits for is forgotten.
    search.done.catch(() => this.#searches.delete(text));
    return search;
  }

  async #run(text: string, search: Omit<Search, 'done'>): Promise<void> {
    try {
      const reader = await this.#source.reader();
      let after: string | undefined;
      do {
        const found = await reader.search({ text, limit: PAGE_HITS, ...present({ after }) });
        // The latest come first: the last one that is seen of a run is its first.
        for (const { runId, seq, snippet } of found.hits) search.places.set(runId, { seq, snippet });
        search.notIndexed = found.notIndexed;
        after = found.next;
      } while (after !== undefined);
    } finally {
      search.isPending = false;
    }
  }
}

function holdsWords(text: string): boolean {
  try {
    return phrasesIn(text).length > 0;
  } catch {
    // It says that there are no words in it, or too many characters, which was looked at before.
    return false;
  }
}
