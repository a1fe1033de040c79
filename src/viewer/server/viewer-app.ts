import { Hono } from 'hono';

import { CoxswainError } from '../../core/base/error.ts';
import type { Lesson } from '../../core/facts/lessons.ts';
import { present } from '../../core/base/json.ts';
import type { ErrorAnswer, FailingAnswer, FailingCause, TasksAnswer } from './api-shapes.ts';
import { formatLabels } from '../../lab/labels.ts';
import { addEventRoutes } from './event-routes.ts';
import { readLabelChange } from './labels-file.ts';
import { readRunKey, readRunsQuery } from './run-query.ts';
import { addCompareRoutes } from './compare-runs.ts';
import { addRunRoutes } from './run-routes.ts';
import { type Sessions, type ApiContext, runOf, type ViewerEnv, type ViewerState } from './sessions.ts';
import { findStaticFile, pageMissing } from './static-files.ts';
import { runGroups } from './task-groups.ts';
import { problemOf, viewerFault } from './viewer-fault.ts';

export interface AppSetup {
  readonly state: ViewerState;
  readonly sessions: Sessions;
  readonly pageFolder: string;
  readonly port: number;
  readonly signal: AbortSignal;
}

const ROWS_MS = 500;
const MAX_ROWS = 100;
const MAX_CAUSES = 3;
const MAX_BODY_BYTES = 64 * 1024;

/** Content-Security-Policy: allows only files of the viewer. Inline scripts and styles, frames and other origins are blocked. */
const CONTENT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Headers of every response, including errors. There are no CORS headers. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-store',
};

/** All routes below `/api` need the cookie, writes also `x-coxswain`, which others cannot send: every preflight fails. */
export function createViewerApp(setup: AppSetup): Hono<ViewerEnv> {
  const app = new Hono<ViewerEnv>();
  app.use(async (context, next) => {
    await next();
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
      if (!context.res.headers.has(name)) context.res.headers.set(name, value);
    }
  });
  app.onError((error, context) => {
    const { problem, status } = problemOf(error);
    return context.json({ error: problem } satisfies ErrorAnswer, status);
  });
  addSessionRoutes(app, setup);
  addListRoutes(app, setup);
  addRunRoutes(app, setup.state, setup.pageFolder);
  addCompareRoutes(app, setup.state);
  addEventRoutes(app, setup.state, setup.signal);
  addFileRoutes(app, setup);
  app.get('*', async (context) => {
    const [target = ''] = (context.env.incoming.url ?? '').split('?');
    // The request for the run reports an error.
    if (target === '/') readAhead(setup, context).catch(() => {});
    const file = await findStaticFile(setup.pageFolder, target);
    if (file !== undefined) {
      const { bytes, contentType } = file;
      // The names of assets contain a hash of their content. The browser also caches their compiled code.
      const caching = target.startsWith('/assets/') ? { 'cache-control': 'private, max-age=31536000, immutable' } : {};
      return context.body(bytes, 200, { 'content-type': contentType, ...caching });
    }
    if (target !== '/') throw viewerFault('not-found', 'there is nothing at this address');
    throw pageMissing(setup.pageFolder);
  });
  app.all('*', () => {
    throw viewerFault('not-found', 'there is nothing at this address');
  });
  return app;
}

/** Begins to read the run of an address while the browser starts its page. */
async function readAhead({ port, sessions, state }: AppSetup, context: ApiContext): Promise<void> {
  const { run: runId, source } = context.req.query();
  if (runId === undefined || source === undefined) return;
  if (!sessions.isOpen(cookieOf(context.req.header('cookie'), sessionCookie(port)))) return;
  const { listed, run } = await runOf(state, source, runId);
  await listed.overviews.overview(run, 0);
}

function addSessionRoutes(app: Hono<ViewerEnv>, { port, sessions }: AppSetup): void {
  const cookie = sessionCookie(port);
  app.post('/session', async (context) => {
    requireWriteHeader(context);
    const body = await readBody(context);
    const token = typeof body === 'object' && body !== null && 'token' in body ? body.token : undefined;
    const session = typeof token === 'string' ? sessions.openSession(token) : undefined;
    if (session === undefined) {
      throw viewerFault(
        'wrong-token',
        'the token belongs to an earlier start of the viewer',
        'Open the address that coxswain view printed.',
      );
    }
    context.header('set-cookie', `${cookie}=${session}; HttpOnly; SameSite=Strict; Path=/`);
    return context.body(null, 204);
  });
  app.use('/api/*', async (context, next) => {
    if (!sessions.isOpen(cookieOf(context.req.header('cookie'), cookie))) {
      throw viewerFault('no-session', 'there is no session', 'Open the address that coxswain view printed.');
    }
    if (context.req.method !== 'GET' && context.req.method !== 'HEAD') requireWriteHeader(context);
    await next();
  });
  app.get('/api/session', (context) => context.json({ ok: true }));
}

function addListRoutes(app: Hono<ViewerEnv>, { state }: AppSetup): void {
  const { failing, list, sources } = state;
  app.get('/api/sources', async (context) => {
    await Promise.all(sources.map((source) => source.refresh()));
    return context.json({ sources: sources.map((source) => source.row()) });
  });
  app.get('/api/runs', async (context) => context.json(await list.page(readRunsQuery(context.req.query()))));
  app.get('/api/tasks', async (context) => {
    const { by = 'task', ...query } = context.req.query();
    if (by !== 'task' && by !== 'pattern')
      throw new CoxswainError('invalid-argument', `by=${by.slice(0, 80)}: give task or pattern`);
    const { pending, runs } = await list.matchingRuns(readRunsQuery(query).filter, true);
    return context.json({ ...runGroups(runs, by), pending } satisfies TasksAnswer);
  });
  app.get('/api/failing', async (context) => {
    const lessons = (await failing?.()) ?? [];
    const open = lessons.filter(({ stillHappens }) => stillHappens);
    const causes = open.slice(0, MAX_CAUSES).map((lesson) => causeOf(lesson, state));
    return context.json({ causes, leftOut: open.length - causes.length } satisfies FailingAnswer);
  });
  app.get('/api/rows', async (context) => {
    const keys = (context.req.query('ids') ?? '').split(',').filter((key) => key !== '');
    if (keys.length > MAX_ROWS) throw viewerFault('too-many', `${keys.length} rows; ask for at most ${MAX_ROWS}`);
    return context.json({ rows: await list.rows(keys.map(readRunKey), ROWS_MS) });
  });
}

function causeOf(lesson: Lesson, { sources }: ViewerState): FailingCause {
  const { calls, cause, costUsd, examples, name, sessions, worked } = lesson;
  const found = examples.flatMap(({ number, runId }) => {
    const source = sources.find(({ runs }) => runs.has(runId));
    return source === undefined ? [] : [{ source: source.id, runId, call: number }];
  });
  return {
    name,
    cause,
    sessions,
    calls,
    ...present({ costUsd: costUsd > 0 ? costUsd : undefined, worked: worked?.shown, example: found.at(-1) }),
  };
}

function addFileRoutes(app: Hono<ViewerEnv>, { state: { labels } }: AppSetup): void {
  app.get('/api/labels', async (context) => context.json(await labels.read()));
  app.get('/api/labels.csv', async (context) => {
    context.header('content-disposition', 'attachment; filename="labels.csv"');
    return context.body(formatLabels((await labels.read()).labels), 200, { 'content-type': 'text/csv; charset=utf-8' });
  });
  app.post('/api/labels', async (context) =>
    context.json(await labels.change(readLabelChange(await readBody(context)))),
  );
}

/** Returns the name of the session cookie. It contains the port, because browsers share cookies between ports. */
export function sessionCookie(port: number): string {
  return `coxswain-${port}`;
}

export function cookieOf(header: string | undefined, name: string): string | undefined {
  const cookies = (header ?? '').split(';').map((cookie) => cookie.trim());
  return cookies.find((cookie) => cookie.startsWith(`${name}=`))?.slice(name.length + 1);
}

function requireWriteHeader(context: ApiContext): void {
  if (context.req.header('x-coxswain') !== '1') throw viewerFault('forbidden', 'the header x-coxswain is missing');
}

async function readBody(context: ApiContext): Promise<unknown> {
  if (!/^application\/json(?:;|$)/.test(context.req.header('content-type') ?? '')) {
    throw viewerFault('forbidden', 'the content type must be application/json');
  }
  let text = '';
  const decoder = new TextDecoder();
  for await (const piece of context.req.raw.body ?? []) {
    text += decoder.decode(piece, { stream: true });
    if (text.length > MAX_BODY_BYTES)
      throw new CoxswainError('input-too-large', `a body has at most ${MAX_BODY_BYTES} bytes`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new CoxswainError('invalid-argument', 'the body is not JSON');
  }
}
