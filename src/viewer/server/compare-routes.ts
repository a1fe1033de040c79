import type { Hono } from 'hono';

import type { CompareAnswer } from './api-shapes.ts';
import { compareRunCalls, type ComparedSide } from './compare-runs.ts';
import { runRowOf } from './run-list.ts';
import { parseWholeNumber } from './run-query.ts';
import type { ViewerEnv } from './viewer-env.ts';
import { runOf, type ViewerState } from './viewer-state.ts';

const MAX_COMPARED = 2_000;
/** Milliseconds that a response waits for the outcomes of the runs. */
const EXTRAS_MS = 1_000;

/** Adds the route that aligns two runs. */
export function addCompareRoutes(app: Hono<ViewerEnv>, state: ViewerState): void {
  const findSide = async ([source, runId]: readonly [string, string]): Promise<ComparedSide> => {
    const { listed, run } = await runOf(state, source, runId);
    const row = runRowOf(listed, run, await listed.overviews.extras(run, EXTRAS_MS));
    return { row, run, reader: await listed.source.reader() };
  };
  app.get('/api/compare', async (context) => {
    const { a: left = '', b: right = '', from = '0', limit = '500' } = context.req.query();
    const [startRow, rowCount] = [
      parseWholeNumber('from', from),
      parseWholeNumber('limit', limit, { from: 1, to: MAX_COMPARED }),
    ];
    const [a, b] = [await findSide(splitKey(left)), await findSide(splitKey(right))];
    const key = JSON.stringify([a, b].map(({ row }) => row));
    const comparison = state.comparisons.get(key) ?? (await compareRunCalls(a, b));
    state.comparisons.set(key, comparison);
    const end = startRow + rowCount;
    return context.json({
      ...comparison,
      rows: comparison.rows.slice(startRow, end),
      ...(end < comparison.total ? { next: end } : {}),
    } satisfies CompareAnswer);
  });
}

/** Splits a key at its first slash. */
function splitKey(key: string): readonly [string, string] {
  const slash = key.indexOf('/');
  return [key.slice(0, Math.max(0, slash)), key.slice(slash + 1)];
}
