import { allRuns } from '../../core/store/all-runs.ts';
import { CoxswainError, invalidArgument } from '../../core/base/error.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import type { StoreReader } from '../../core/store/trajectory-store.ts';
import { shownStore, storeFlag } from './open-store.ts';
import { printableCut } from '../../core/base/printable.ts';

const MAX_CANDIDATES = 5;

/**
 * Returns the run with this id, or the only run whose id starts with it.
 *
 * @param address  address of the store, for error messages
 * @throws CoxswainError `input-io` if no run matches; `invalid-argument` if several runs match; the errors of the store
 */
export async function namedRun(
  store: Pick<StoreReader, 'listRuns' | 'findRun'>,
  idStart: string,
  address: string,
): Promise<RunSummary> {
  const exact = await store.findRun(idStart);
  if (exact !== undefined) return exact;
  const foundRuns: RunSummary[] = [];
  for await (const run of allRuns(store)) {
    if (run.runId.startsWith(idStart)) foundRuns.push(run);
    if (foundRuns.length > MAX_CANDIDATES) break;
  }
  const [run] = foundRuns;
  const shownId = printableCut(idStart, 100);
  if (run === undefined) {
    const list = `coxswain runs${storeFlag(address)}`;
    throw new CoxswainError('input-io', `${shownStore(address)}: no run ${shownId}; list the runs with: ${list}`);
  }
  if (foundRuns.length === 1) return run;
  const names = foundRuns.slice(0, MAX_CANDIDATES).map(({ runId }) => printableCut(runId, 80));
  const more = foundRuns.length > MAX_CANDIDATES ? ', …' : '';
  throw invalidArgument(`${shownId} matches several runs: ${names.join(', ')}${more}; give more of the id`);
}
