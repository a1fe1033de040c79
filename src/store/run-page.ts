import { Buffer } from 'node:buffer';

import { isRunId } from './check-batch.ts';
import { checkPageLimit, readPageCursor, writePageCursor } from './page-cursor.ts';
import type { RunSummary } from './run-summary.ts';
import type { RunPage, RunQuery } from './trajectory-store.ts';

/** Where a run lies in the listing order: it does not move when other runs arrive. */
type RunPlace = Pick<RunSummary, 'startedAtMs' | 'runId'>;

/** A `RunQuery` with its defaults filled in and its cursor read. */
interface CheckedRunQuery {
  readonly limit: number;
  readonly withBytes: boolean;
  /** The last run of the page before. */
  readonly after?: RunPlace;
}

/** @throws CoxswainError `invalid-argument` for a limit out of range or a cursor that no page gave */
export function checkRunQuery(query: RunQuery = {}): CheckedRunQuery {
  const limit = checkPageLimit(query.limit);
  const withBytes = query.withBytes === true;
  return query.after === undefined
    ? { limit, withBytes }
    : { limit, withBytes, after: readPageCursor(query.after, toPlace) };
}

/**
 * Makes a page of runs that are in listing order.
 *
 * @param runs  up to `limit + 1` of them, beginning after the cursor: the one too many tells that there is more
 */
export function toRunPage(runs: readonly RunSummary[], limit: number): RunPage {
  const page = runs.slice(0, limit);
  const last = page.at(-1);
  return runs.length > limit && last !== undefined
    ? { runs: page, next: writePageCursor([last.startedAtMs, last.runId]) }
    : { runs: page };
}

/** Answers a query from all the runs there are. Cost: one pass and one sort of the runs after the cursor. */
export function pageOfAllRuns(runs: Iterable<RunSummary>, query: CheckedRunQuery): RunPage {
  const { after } = query;
  const rest: RunSummary[] = [];
  for (const run of runs) if (after === undefined || compareRuns(after, run) < 0) rest.push(run);
  rest.sort(compareRuns);
  return toRunPage(rest, query.limit);
}

/** Listing order: the run that started last first, then by `runId` in code point order. */
export function compareRuns(left: RunPlace, right: RunPlace): number {
  if (left.startedAtMs !== right.startedAtMs) return right.startedAtMs - left.startedAtMs;
  if (left.runId === right.runId) return 0;
  // UTF-8 bytes sort as code points do, and as SQLite sorts text; UTF-16 units do not.
  return Buffer.compare(Buffer.from(left.runId), Buffer.from(right.runId));
}

function toPlace([startedAtMs, runId, ...more]: readonly unknown[]): RunPlace | undefined {
  const isPlace = typeof startedAtMs === 'number' && isRunId(runId) && more.length === 0;
  return isPlace ? { startedAtMs, runId } : undefined;
}
