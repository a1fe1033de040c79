import type { Hono } from 'hono';
import { stream } from 'hono/streaming';

import { CoxswainError } from '../../base/error.ts';
import { alignRuns } from './aligned-runs.ts';
import type { AlignedAnswer, CompareAnswer } from './api-shapes.ts';
import { compareRunCalls, type ComparedSide } from './compare-runs.ts';
import { readRunKey, parseWholeNumber } from './run-query.ts';
import { sharedRuns } from './share-runs.ts';
import type { ApiContext, ViewerEnv } from './viewer-env.ts';
import { viewerFault } from './viewer-fault.ts';
import { runOf, type ViewerState } from './viewer-state.ts';

const MAX_COMPARED = 2_000;
const MAX_ALIGNED = 24;
const MAX_SHARED = 500;

/** Adds the routes about several runs: two runs aligned, many runs side by side, and many runs as one file. */
export function addCompareRoutes(app: Hono<ViewerEnv>, state: ViewerState): void {
  const findSide = async ([source, runId]: readonly [string, string]): Promise<ComparedSide> => {
    const { listed, run } = await runOf(state, source, runId);
    return { source, run, title: listed.source.titleOf(run), reader: await listed.source.reader() };
  };
  app.get('/api/compare', async (context) => {
    const { a: left = '', b: right = '', from = '0', limit = '500' } = context.req.query();
    const [startRow, rowCount] = [
      parseWholeNumber('from', from),
      parseWholeNumber('limit', limit, { from: 1, to: MAX_COMPARED }),
    ];
    const [a, b] = [await findSide(splitKey(left)), await findSide(splitKey(right))];
    const key = JSON.stringify([a, b].map(({ run, source }) => [source, run.runId, run.lastSeq, run.startedAtMs]));
    const comparison = state.comparisons.get(key) ?? (await compareRunCalls(a, b));
    state.comparisons.set(key, comparison);
    const end = startRow + rowCount;
    return context.json({
      ...comparison,
      rows: comparison.rows.slice(startRow, end),
      ...(end < comparison.total ? { next: end } : {}),
    } satisfies CompareAnswer);
  });
  app.get('/api/aligned', async (context) => {
    const sides: ComparedSide[] = [];
    for (const key of readKeys(context, MAX_ALIGNED)) sides.push(await findSide(key));
    return context.json((await alignRuns(sides)) satisfies AlignedAnswer);
  });
  app.get('/api/share', async (context) => {
    const sides: ComparedSide[] = [];
    for (const key of readKeys(context, MAX_SHARED)) sides.push(await findSide(key));
    context.header('content-type', 'application/x-ndjson; charset=utf-8');
    context.header('content-disposition', `attachment; filename="coxswain-${sides.length}-runs.jsonl"`);
    return stream(context, async (body) => {
      for await (const line of sharedRuns(sides)) {
        if (body.aborted) return;
        await body.write(line);
      }
    });
  });
}

/** Splits a key as `readRunKey` does, but without decoding escapes. */
function splitKey(key: string): readonly [string, string] {
  const slash = key.indexOf('/');
  return [key.slice(0, Math.max(0, slash)), key.slice(slash + 1)];
}

function readKeys(context: ApiContext, limit: number): readonly (readonly [string, string])[] {
  const keys = (context.req.query('ids') ?? '').split(',').filter((key) => key !== '');
  if (keys.length === 0) throw new CoxswainError('invalid-argument', 'ids is empty: name the runs');
  if (keys.length > limit) throw viewerFault('too-many', `${keys.length} runs; ask for at most ${limit}`);
  return keys.map(readRunKey);
}
