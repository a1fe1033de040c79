import type { Hono } from 'hono';
import { stream } from 'hono/streaming';

import { CoxswainError } from '../../core/base/error.ts';
import { pageName, runPage } from '../../formats/export/run-page.ts';
import type { CallAnswer, CallsAnswer, FindKind, RunAnswer } from './api-shapes.ts';
import { findMark, findRecord } from './find-in-run.ts';
import { readRecords, readState, readWholeRecord } from './read-records.ts';
import { runRowOf } from './run-list.ts';
import { isLongRun } from './run-overviews.ts';
import { parseWholeNumber } from './run-query.ts';
import type { ApiContext, ViewerEnv } from './viewer-env.ts';
import { runOf, type ViewerState } from './viewer-state.ts';

/** Milliseconds that a response waits until the run has been read. The page repeats the request while the result is incomplete. */
const OVERVIEW_MS = 500;
const CALLS_MS = 200;
/** Timeout for finding a call. It is long because the whole run may have to be read. */
const CALL_MS = 60_000;
const MAX_RECORDS = 500;
const MAX_CALL_RECORDS = 2_000;
const MAX_TEXT_CHARS = 1_000;
const FIND_KINDS: readonly FindKind[] = ['error', 'pattern', 'advice', 'text'];

/** Adds the routes about one run. */
export function addRunRoutes(app: Hono<ViewerEnv>, state: ViewerState): void {
  const path = '/api/runs/:source/:runId';
  const findRun = (context: ApiContext): ReturnType<typeof runOf> =>
    runOf(state, context.req.param('source') ?? '', context.req.param('runId') ?? '');
  app.get(path, async (context) => {
    const { listed, run } = await findRun(context);
    // The rows of a long run appear before its timeline.
    const overview = await listed.overviews.overview(run, isLongRun(run) ? 0 : CALLS_MS);
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
    const { call, seq = '0' } = context.req.query();
    const { listed, run } = await findRun(context);
    const wantedCall =
      call === undefined
        ? { atSeq: parseWholeNumber('seq', seq) }
        : { call: parseWholeNumber('call', call, { from: 1 }) };
    return context.json({
      place: (await listed.overviews.timeline(run, CALL_MS)).places.findPlace(wantedCall),
    } satisfies CallAnswer);
  });
  app.get(`${path}/calls`, async (context) => {
    const { from = '0', to = '0' } = context.req.query();
    const { listed, run } = await findRun(context);
    const fromSeq = parseWholeNumber('from', from);
    const toSeq = Math.min(parseWholeNumber('to', to), fromSeq + MAX_CALL_RECORDS);
    const { nextSeq, places } = await listed.overviews.timeline(run, CALLS_MS);
    return context.json({ calls: places.callsBetween(fromSeq, toSeq), upTo: nextSeq } satisfies CallsAnswer);
  });
  app.get(`${path}/state`, async (context) => {
    const { listed, run } = await findRun(context);
    const call = parseWholeNumber('call', context.req.query('call') ?? '0');
    return context.json(await readState(await listed.source.reader(), run, call));
  });
  app.get(`${path}/find`, async (context) => {
    const { direction = 'next', from = '0', kind = 'text', q: text = '' } = context.req.query();
    const findKind = FIND_KINDS.find((name) => name === kind);
    if (findKind === undefined || (direction !== 'next' && direction !== 'prev')) {
      throw new CoxswainError('invalid-argument', `give kind ${FIND_KINDS.join(', ')}, and direction next or prev`);
    }
    const { listed, run } = await findRun(context);
    const query = {
      kind: findKind,
      direction,
      text: text.slice(0, MAX_TEXT_CHARS),
      fromSeq: parseWholeNumber('from', from),
    } as const;
    if (findKind === 'text' && text === '') return context.json({ seq: null });
    return context.json(
      findKind === 'pattern' || findKind === 'advice'
        ? findMark(await listed.overviews.overview(run, CALLS_MS), query)
        : await findRecord(await listed.source.reader(), run, query),
    );
  });
}
