import { CoxswainError } from '../../base/error.ts';
import type { RunSummary } from '../../store/run-summary.ts';
import type { StoreReader } from '../../store/trajectory-store.ts';
import { shownStore, storeFlag } from './open-store.ts';
import { printableCut } from '../terminal/printable.ts';

const MAX_CANDIDATES = 5;
const PAGE_RUNS = 1000;

/** Every run of a store, the one that started last first. Throws as `listRuns`. */
export async function* allRuns(store: Pick<StoreReader, 'listRuns'>): AsyncGenerator<RunSummary, void, void> {
  let after: string | undefined;
  do {
    const page = await store.listRuns(after === undefined ? { limit: PAGE_RUNS } : { limit: PAGE_RUNS, after });
    yield* page.runs;
    after = page.next;
  } while (after !== undefined);
}

/**
 * The run of this id, or the only one whose id begins so.
 *
 * @param address  of the store, for messages
 * @throws CoxswainError `input-io` without such a run, `invalid-argument` when it may be several, and as the store
 */
export async function namedRun(
  store: Pick<StoreReader, 'listRuns' | 'findRun'>,
  wanted: string,
  address: string,
): Promise<RunSummary> {
  const exact = await store.findRun(wanted);
  if (exact !== undefined) return exact;
  const found: RunSummary[] = [];
  for await (const run of allRuns(store)) {
    if (run.runId.startsWith(wanted)) found.push(run);
    if (found.length > MAX_CANDIDATES) break;
  }
  const [run] = found;
  const shown = printableCut(wanted, 100);
  if (run === undefined) {
    throw new CoxswainError(
      'input-io',
      `${shownStore(address)}: no run ${shown}; list the runs with: coxswain runs${storeFlag(address)}`,
    );
  }
  if (found.length === 1) return run;
  const names = found.slice(0, MAX_CANDIDATES).map(({ runId }) => printableCut(runId, 80));
  const more = found.length > MAX_CANDIDATES ? ', …' : '';
  throw new CoxswainError(
    'invalid-argument',
    `${shown} may be several runs: ${names.join(', ')}${more}; give more of the id`,
  );
}
