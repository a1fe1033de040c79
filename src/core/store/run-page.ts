import { Buffer } from 'node:buffer';
import { isRunId } from './check-batch.ts';
import { checkPageLimit, readPageCursor, writePageCursor } from './page-cursor.ts';
import type { RunSummary } from '../facts/run-summary.ts';
import type { RunPage, RunQuery, StoreReader } from './trajectory-store.ts';

type RunPlace = Pick<RunSummary, 'startedAtMs' | 'runId'>;

interface CheckedRunQuery {
  readonly limit: number;
  readonly withBytes: boolean;
  readonly after?: RunPlace;
}

export function checkRunQuery(query: RunQuery = {}): CheckedRunQuery {
  const limit = checkPageLimit(query.limit);
  const withBytes = query.withBytes === true;
  return query.after === undefined
    ? { limit, withBytes }
    : { limit, withBytes, after: readPageCursor(query.after, toPlace) };
}

/** @param runs  up to `limit + 1` runs after the cursor; the extra run shows that there is another page */
export function toRunPage(runs: readonly RunSummary[], limit: number): RunPage {
  const page = runs.slice(0, limit);
  const lastRun = page.at(-1);
  return runs.length > limit && lastRun !== undefined
    ? { runs: page, next: writePageCursor([lastRun.startedAtMs, lastRun.runId]) }
    : { runs: page };
}

/** Creates a page from all runs. Cost: one pass and one sort of the runs after the cursor. */
export function pageOfAllRuns(runs: Iterable<RunSummary>, query: CheckedRunQuery): RunPage {
  const { after } = query;
  const runsAfterCursor: RunSummary[] = [];
  for (const run of runs) if (after === undefined || compareRuns(after, run) < 0) runsAfterCursor.push(run);
  runsAfterCursor.sort(compareRuns);
  return toRunPage(runsAfterCursor, query.limit);
}

/** Compares two runs in listing order: the most recently started run first, then by `runId` in code point order. */
export function compareRuns(left: RunPlace, right: RunPlace): number {
  if (left.startedAtMs !== right.startedAtMs) return right.startedAtMs - left.startedAtMs;
  if (left.runId === right.runId) return 0;
  // UTF-8 bytes sort by code point, as in SQLite. UTF-16 units do not.
  return Buffer.compare(Buffer.from(left.runId), Buffer.from(right.runId));
}

function toPlace([startedAtMs, runId, ...extraParts]: readonly unknown[]): RunPlace | undefined {
  const isPlace = typeof startedAtMs === 'number' && isRunId(runId) && extraParts.length === 0;
  return isPlace ? { startedAtMs, runId } : undefined;
}

const PAGE_RUNS = 1000;

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
