import type { Hono } from 'hono';
import { stream } from 'hono/streaming';
import { CoxswainError } from '../../core/base/error.ts';
import { exportedTree } from '../../formats/export/export-json.ts';
import type { ExportedRun } from '../../formats/export/transcript.ts';
import type { RunAnswer, RunRowsAnswer, FindAnswer } from './api-shapes.ts';
import { readRecords, readState, readWholeRecord, isDamage, type RunReader } from './read-records.ts';
import { runRowOf } from './run-list.ts';
import { isLongRun } from './run-overviews.ts';
import { parseWholeNumber, findWords, hasWords } from './run-query.ts';
import { type ApiContext, type ViewerEnv, runOf, type ViewerState } from './sessions.ts';
import { sharedFile, sharedName } from './shared-run.ts';
import { steadyMs } from '../../core/base/clock.ts';
import { toStoredRecord } from '../../core/records/decode-record.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import { createBreather } from '../../core/node/run-limited.ts';
import { problemOf } from './viewer-fault.ts';

/** Milliseconds that a response waits until the run has been read. The page repeats the request while the result is incomplete. */
const OVERVIEW_MS = 500;
const ROWS_MS = 100;
const MAX_RECORDS = 500;
const MAX_TEXT_CHARS = 1_000;

export function addRunRoutes(app: Hono<ViewerEnv>, state: ViewerState, pageFolder: string): void {
  const path = '/api/runs/:source/:runId';
  const findRun = (context: ApiContext): ReturnType<typeof runOf> =>
    runOf(state, context.req.param('source') ?? '', context.req.param('runId') ?? '');
  app.get(path, async (context) => {
    const { listed, run } = await findRun(context);
    // The rows of a long run appear before its timeline, for which the page asks again.
    const firstMs = isLongRun(run) ? 0 : OVERVIEW_MS / 2;
    const overview = await listed.overviews.overview(
      run,
      context.req.query('again') === undefined ? firstMs : OVERVIEW_MS,
    );
    const parent = run.parentRunId === undefined ? undefined : listed.source.runs.get(run.parentRunId);
    return context.json({
      run: { ...runRowOf(listed, run, listed.overviews.knownExtras(run)), ...overview.usage },
      children: state.list.childrenOf(listed, run.runId),
      ...(parent === undefined ? {} : { parent: runRowOf(listed, parent, listed.overviews.knownExtras(parent)) }),
      overview,
      ...(isAlone(state) ? { isAlone: true as const } : {}),
    } satisfies RunAnswer);
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
    const { source } = listed;
    const reader = await source.reader();
    const exported = (one: RunSummary): ExportedRun => ({ run: one, records: () => reader.readRun(one.runId) });
    const below = ({ runId }: RunSummary): readonly RunSummary[] =>
      source.childrenOf(runId).flatMap((id) => source.runs.get(id) ?? []);
    const tree = exportedTree(exported(run), below, exported);
    const parts = sharedFile(tree, { folder: pageFolder });
    // The first part fails if the page is not built.
    const { value: head } = await parts.next();
    context.header('content-type', 'text/html; charset=utf-8');
    context.header('content-disposition', `attachment; filename="${sharedName(run.runId)}"`);
    return stream(context, async (out) => {
      await out.write(head ?? '');
      for await (const part of parts) {
        if (out.aborted) return;
        await out.write(part);
      }
    });
  });
  app.get(`${path}/rows`, async (context) => {
    const { listed, run } = await findRun(context);
    const from = parseWholeNumber('from', context.req.query('from') ?? '0');
    const known = await listed.overviews.timeline(run, 0);
    const { nextSeq, rows } = known.rows.list.length > from ? known : await listed.overviews.timeline(run, ROWS_MS);
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

function isAlone({ sources }: ViewerState): boolean {
  const isRead = sources.every(({ isReading }) => !isReading);
  return isRead && sources.reduce((sum, { runs }) => sum + runs.size, 0) === 1;
}

const SEARCH_TIME_MS = 1_000;
const CHUNK_RECORDS = 500;

export interface FindQuery {
  /** A record matches if it contains each of these words, ignoring case. */
  readonly text: string;
  readonly fromSeq: number;
  readonly direction: 'next' | 'prev';
}

/** Searches for up to a second per response, 500 records at a time. `problem` is a damaged record that ended the search. */
export async function findRecord(
  reader: RunReader,
  run: RunSummary,
  { direction, fromSeq, text }: FindQuery,
): Promise<FindAnswer> {
  const endMs = steadyMs() + SEARCH_TIME_MS;
  const words = findWords(text);
  const pauseIfDue = createBreather();
  const isNext = direction === 'next';
  try {
    for (let seq = Math.min(fromSeq, run.lastSeq + 1); seq >= 0 && seq <= run.lastSeq + 1;) {
      if (steadyMs() > endMs) return { seq: null, resumeFrom: seq };
      const [first, last] = isNext ? [seq, seq + CHUNK_RECORDS - 1] : [Math.max(0, seq - CHUNK_RECORDS + 1), seq];
      let lastMatch: number | undefined;
      for await (const record of reader.readRun(run.runId, { fromSeq: first, limit: last - first + 1 })) {
        if (record.seq > last) break;
        if (hasWords(toStoredRecord(record).payload, words)) lastMatch = record.seq;
        if (isNext && lastMatch !== undefined) break;
        const pause = pauseIfDue();
        if (pause !== undefined) await pause;
      }
      if (lastMatch !== undefined) return { seq: lastMatch };
      seq = isNext ? last + 1 : first - 1;
    }
    return { seq: null };
  } catch (error) {
    if (isDamage(error)) return { seq: null, problem: problemOf(error).problem };
    throw error;
  }
}
