import { createHash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';

import { systemClock } from '../../core/base/clock.ts';
import { messageOf } from '../../core/base/error.ts';
import { present } from '../../core/base/json.ts';
import { titlesOf } from '../../core/facts/task-title.ts';
import { createBreather } from '../../core/node/run-limited.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import type { SubagentWork } from '../../core/facts/subagent-work.ts';
import { createRedactor } from '../../core/redact/redactor.ts';
import type { ExportedTree } from '../../formats/export/export-json.ts';
import { html, htmlText } from '../../formats/html/html.ts';
import type { ListedRow } from './api-shapes.ts';
import { SHARED_RUN, type SharedRun } from './shared-data.ts';
import { pictureOf } from './picture-of.ts';
import { shownRecord } from './read-records.ts';
import { listedRow } from './run-list.ts';
import { extrasWith, RunOverviewFold } from './run-overview-fold.ts';
import { pageFolder, readPage } from './static-files.ts';
import { TITLE_CHARS } from './viewer-source.ts';

/** The page shows texts up to this length. */
const LIMITS = { textChars: 400_000, payloadChars: 4_000_000 };
const PIECE_CHARS = 65_536;

/** What a run needs of those below it: the rows of its children, and what all of them did. */
interface Below {
  readonly rows: ListedRow[];
  readonly works: SubagentWork[];
}

export function sharedName(runId: string): string {
  const name = runId
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
    .slice(0, 80);
  return `coxswain-${name === '' ? 'run' : name}.html`;
}

/**
 * Writes a run and the runs that it started as one HTML file: the page of the viewer, with their data in place of the server.
 * Secrets are redacted again, and pictures are left out. The policy of the file allows its own script and style, and no request. The
 * file of a damaged run has the readable part and the reason. Reads the records once. Memory: the rows of one run.
 *
 * @throws CoxswainError `invalid-argument` if the page is not built
 */
export async function* sharedFile(
  tree: ExportedTree,
  { folder = pageFolder(), nowMs = systemClock.nowMs() }: { readonly folder?: string; readonly nowMs?: number } = {},
): AsyncGenerator<string, void, void> {
  const { script, style } = await readPage(folder);
  const policy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'`;
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<style>${style}</style>
`;
  const shared: Below = { rows: [], works: [] };
  yield* runData(tree, nowMs, shared);
  yield `<title>${htmlText(html`${createRedactor().text(shared.rows[0]?.title ?? '')}`)}</title>
</head>
<body>
<div id="app"></div>
<noscript>This file shows the run with a script of its own, which makes no request; please allow it.</noscript>
<script type="module">${script}</script>\n</body>\n</html>\n`;
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Yields the runs below a run before the run, so the shared run is the last one. It is added to `siblings`. */
async function* runData(tree: ExportedTree, nowMs: number, siblings: Below): AsyncGenerator<string, void, void> {
  const children: Below = { rows: [], works: [] };
  for (const child of tree.below) yield* runData(child, nowMs, children);
  yield `<script type="application/gzip" class="${SHARED_RUN}">`;
  yield* compressed(runJson(tree, { children, nowMs, siblings }));
  yield '</script>\n';
}

/** Yields the gzip of texts in Base64. */
async function* compressed(texts: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  // The loop throws the errors of both.
  const gzip = pipeline(Readable.from(texts), createGzip(), () => {});
  let rest = Buffer.alloc(0);
  for await (const bytes of gzip as AsyncIterable<Buffer>) {
    const all = Buffer.concat([rest, bytes]);
    const end = all.length - (all.length % 3);
    yield all.toString('base64', 0, end);
    rest = all.subarray(end);
  }
  yield rest.toString('base64');
}

async function* runJson(
  { below, records, run }: ExportedTree,
  place: { readonly children: Below; readonly nowMs: number; readonly siblings: Below },
): AsyncGenerator<string, void, void> {
  const { children, nowMs, siblings } = place;
  const redactor = createRedactor();
  const fold = new RunOverviewFold();
  const breath = createBreather();
  let { problem } = run;
  let text = '{"records":[';
  try {
    for await (const record of records()) {
      const redacted = { ...record, payload: redactor.redact(record.payload) };
      const separator = fold.nextSeq === 0 ? '' : ',';
      fold.fold(redacted);
      text += separator + JSON.stringify(shownRecord(redacted, LIMITS), withoutPicture);
      if (text.length > PIECE_CHARS) {
        yield text;
        text = '';
      }
      const pause = breath();
      if (pause !== undefined) await pause;
    }
  } catch (error) {
    problem = messageOf(error);
  }
  const summary = {
    ...(fold.nextSeq === 0 ? run : fold.counts),
    ...present({ problem: problem && redactor.text(problem) }),
  };
  const names = { source: '', title: titleOf(summary), childCount: below.length };
  const own = fold.extras();
  const row = listedRow(summary, extrasWith(own, children.works), { ...names, nowMs });
  const shared: Omit<SharedRun, 'records'> = {
    rows: fold.rows.list,
    answer: { run: row, children: children.rows, overview: fold.overview(fold.nextSeq - 1) },
    judgedAtMs: row.outcome === undefined ? nowMs : row.lastAtMs,
  };
  siblings.rows.push(row);
  siblings.works.push(...children.works, ...(own.work === undefined ? [] : [{ id: run.runId, ...own.work }]));
  yield `${text}],${JSON.stringify(shared, withoutPicture).slice(1)}`;
}

function titleOf({ runId, task = '' }: RunSummary): string {
  return task.trim() === '' ? runId : (titlesOf([task], TITLE_CHARS).get(task) ?? task);
}

/** Redaction cannot look into a picture, so only its kind and size remain. */
function withoutPicture(_key: string, value: unknown): unknown {
  const picture = pictureOf(value);
  if (picture === undefined) return value;
  const { data, mediaType } = picture;
  const bytes = typeof data === 'string' ? Math.floor((data.length * 3) / 4) : undefined;
  return { type: 'image', media_type: mediaType, data_base64: present({ bytes }) };
}
