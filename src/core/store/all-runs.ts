import type { RunSummary } from '../facts/run-summary.ts';
import type { StoreReader } from './trajectory-store.ts';

const PAGE_RUNS = 1000;

/** Yields every run of a store, the most recently started run first. Throws the errors of `listRuns`. */
export async function* allRuns(
  store: Pick<StoreReader, 'listRuns'>,
  limit: number = PAGE_RUNS,
): AsyncGenerator<RunSummary, void, void> {
  let after: string | undefined;
  do {
    const page = await store.listRuns(after === undefined ? { limit } : { limit, after });
    yield* page.runs;
    after = page.next;
  } while (after !== undefined);
}
