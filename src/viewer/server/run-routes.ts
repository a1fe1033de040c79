import type { Hono } from 'hono';
import { stream } from 'hono/streaming';

import { CoxswainError } from '../../core/base/error.ts';
import { pageName, runPage } from '../../formats/export/run-page.ts';
import type { CallAnswer, RunAnswer, RunRowsAnswer } from './api-shapes.ts';
import { findRecord } from './find-in-run.ts';
import { readRecords, readState, readWholeRecord } from './read-records.ts';
import { runRowOf } from './run-list.ts';
import { isLongRun } from './run-overviews.ts';
import { parseWholeNumber } from './run-query.ts';
import type { ApiContext, ViewerEnv } from './viewer-env.ts';
import { runOf, type ViewerState } from './viewer-state.ts';

/** Milliseconds that a response waits until the run has been read. The page repeats the request while the result is incomplete. */
const OVERVIEW_MS = 500;
/** The first rows of a long run appear while it is being read. */
const ROWS_MS = 100;
/** Timeout for finding a call. It is long because the whole run may have to be read. */
const CALL_MS = 60_000;
const MAX_RECORDS = 500;
const MAX_TEXT_CHARS = 1_000;

/** Adds the routes about one run. */
export function addRunRoutes(app: Hono<ViewerEnv>, state: ViewerState): void {
  const path = '/api/runs/:source/:runId';
  const findRun = (context: ApiContext): ReturnType<typeof runOf> =>
    runOf(state, context.req.param('source') ?? '', context.req.param('runId') ?? '');
  app.get(path, async (context) => {
    const { listed, run } = await findRun(context);
    // The rows of a long run appear before its timeline.
    const overview = await listed.overviews.overview(run, isLongRun(run) ? 0 : OVERVIEW_MS / 2);
    const parent = run.parentRunId === undefined ? undefined : listed.source.runs.get(run.parentRunId);
    return context.json({
      run: runRowOf(listed, run, listed.overviews.knownExtras(run)),
      children: state.list.childrenOf(listed, run.runId),
      ...(parent === undefined ? {} : { parent: runRowOf(listed, parent, listed.overviews.knownExtras(parent)) }),
      overview,
    } satisfies RunAnswer);
  });
  app.get(`${path}/overview`, async (context) => {
    const { listed, run } = await findRun(context);
    return context.json(await listed.overviews.overview(run, OVERVIEW_MS));
  });
  app.get(`${path}/records`, async (context) => {
    const { from = '0', limit = '200' } = context.req.query();
    const { listed, run } = await findRun(context);
    const fromSeq = parseWholeNumber('from', from);
    const count = parseWholeNumber('limit', limit, { from: 1, to: MAX_RECORDS });
    return context.json(await readRecords(await listed.source.reader(), run, { fromSeq, limit: count }));
  });
  app.get(`${path}/record/:seq`, async (context) => {
    const { listed, run } = await findRun(context);
    const seq = parseWholeNumber('seq', context.req.param('seq'));
    return context.body(JSON.stringify(await readWholeRecord(await listed.source.reader(), run.runId, seq)), 200, {
      'content-type': 'application/json',
    });
  });
  app.get(`${path}/export.html`, async (context) => {
    const { listed, run } = await findRun(context);
    const reader = await listed.source.reader();
    context.header('content-type', 'text/html; charset=utf-8');
    context.header('content-disposition', `attachment; filename="${pageName(run.runId)}"`);
    return stream(context, async (out) => {
      for await (const part of runPage({ run, records: () => reader.readRun(run.runId) })) {
        if (out.aborted) return;
        await out.write(part);
      }
    });
  });
  app.get(`${path}/call`, async (context) => {
    const { listed, run } = await findRun(context);
    const call = parseWholeNumber('call', context.req.query('call') ?? '1', { from: 1 });
    return context.json({
      place: (await listed.overviews.timeline(run, CALL_MS)).rows.findPlace(call),
    } satisfies CallAnswer);
  });
  app.get(`${path}/rows`, async (context) => {
    const { listed, run } = await findRun(context);
    const from = parseWholeNumber('from', context.req.query('from') ?? '0');
    const { nextSeq, rows } = await listed.overviews.timeline(run, ROWS_MS);
    return context.json({ rows: rows.list.slice(from), upTo: nextSeq } satisfies RunRowsAnswer);
  });
  app.get(`${path}/state`, async (context) => {
    const { listed, run } = await findRun(context);
    const call = parseWholeNumber('call', context.req.query('call') ?? '0');
    return context.json(await readState(await listed.source.reader(), run, call));
  });
  app.get(`${path}/find`, async (context) => {
    const { direction = 'next', from = '0', q: text = '' } = context.req.query();
    if (direction !== 'next' && direction !== 'prev')
      throw new CoxswainError('invalid-argument', 'give direction next or prev');
    const { listed, run } = await findRun(context);
    const query = { direction, text: text.slice(0, MAX_TEXT_CHARS), fromSeq: parseWholeNumber('from', from) } as const;
    return context.json(text === '' ? { seq: null } : await findRecord(await listed.source.reader(), run, query));
  });
}
