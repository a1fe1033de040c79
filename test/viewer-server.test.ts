import { appendFile, mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { createCoxswain } from '../src/core/run/coxswain.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { LAYOUT } from '../src/stores/sqlite/sqlite-database.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import type { TrajectorySink } from '../src/core/store/trajectory-store.ts';
import { scriptRun } from './support/script-records.ts';
import { tempFolder } from './support/temp-folder.ts';
import type {
  CompareAnswer,
  FindAnswer,
  LabelsAnswer,
  RecordsAnswer,
  RowsAnswer,
  RunAnswer,
  RunRowsAnswer,
  RunsAnswer,
  RunState,
  SourcesAnswer,
} from '../src/viewer/server/api-shapes.ts';
import { startViewer, type RunningViewer, type ViewerOptions } from '../src/viewer/server/start-viewer.ts';
import { openPage, openStream, type Page } from './viewer-client.ts';

let folder: Awaited<ReturnType<typeof tempFolder>>;
const open: RunningViewer[] = [];

beforeEach(async () => {
  folder = await tempFolder();
});

afterEach(async () => {
  for (const viewer of open.splice(0)) await viewer.close();
  await folder.dispose();
});

async function view(
  paths: readonly string[],
  options: Omit<ViewerOptions, 'paths'> = {},
): Promise<{ readonly viewer: RunningViewer; readonly page: Page }> {
  const viewer = await startViewer({ paths: paths.map(at), port: 0, ...options });
  open.push(viewer);
  return { viewer, page: await openPage(viewer) };
}

function at(name: string): string {
  return join(folder.path, name);
}

/** Asks until an answer holds what the test needs; the test's own limit ends it. */
async function until<Value>(look: () => Promise<Value>, holds: (value: Value) => boolean): Promise<Value> {
  for (;;) {
    const value = await look();
    if (holds(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The runs, once no source and no run is still being read. */
async function listRuns(page: Page, query = ''): Promise<RunsAnswer> {
  return until(
    () => page.json<RunsAnswer>(`/api/runs${query}`),
    ({ pending }) => pending === 0,
  );
}

const started = (runId: string, more: Partial<TrajectoryPayload> = {}): TrajectoryPayload => {
  const payload = { kind: 'run_started', identity: { run_id: runId, depth: 0 }, ...more };
  // A run's first payload, with additional members.
  return payload as TrajectoryPayload;
};

function call(
  id: string,
  tool: string,
  args: object,
  { result = 'ok', isError = false } = {},
): readonly TrajectoryPayload[] {
  return [
    { kind: 'turn_started' },
    // Plain JSON.
    { kind: 'tool_started', tool_call_id: id, tool_name: tool, args: args as never },
    { kind: 'tool_ended', tool_call_id: id, tool_name: tool, result, is_error: isError },
  ];
}

async function appendRun(store: TrajectorySink, runId: string, payloads: readonly TrajectoryPayload[]): Promise<void> {
  const records = scriptRun(runId, payloads);
  for (let from = 0; from < records.length; from += 500) await store.append(records.slice(from, from + 500));
}

const failing = (count: number): readonly TrajectoryPayload[] =>
  Array.from({ length: count }, (_, index) =>
    call(`f${index}`, 'bash', { command: 'make' }, { result: 'make: no rule', isError: true }),
  ).flat();
const reading = (count: number, part = 'part'): readonly TrajectoryPayload[] =>
  Array.from({ length: count }, (_, index) =>
    call(`r${index}`, 'read_file', { path: `${part}-${index}.ts` }, { result: `${part} ${index * 7}` }),
  ).flat();

/** A run under the standard steering that fails at the same again and again, and is told so. */
async function steeredRun(store: TrajectorySink, runId: string): Promise<void> {
  const cox = createCoxswain({ store });
  const run = cox.startRun({ runId, task: 'Fix the build.' });
  for (let index = 0; index < 12; index += 1) {
    run.emit({ type: 'turn_start' });
    run.emit({ type: 'tool_execution_start', toolCallId: `c${index}`, toolName: 'bash', args: { command: 'make' } });
    const ended = { toolCallId: `c${index}`, toolName: 'bash', result: 'make: no rule', isError: true } as const;
    run.emit({ type: 'tool_execution_end', ...ended });
    for (const advice of run.advise('post_tool_result')) advice.delivered('tool-result');
  }
  await run.end();
  await cox.flush();
}

const KINDS = [['sqlite', 'runs.db', (path: string) => sqliteStore(path)]] as const;

for (const [kind, name, openStore] of KINDS) {
  test(`${kind}: runs are listed newest first, page by page, with extras on demand`, async () => {
    const store = openStore(at(name));
    for (let index = 0; index < 5; index += 1) {
      const records = scriptRun(`run-${index}`, [started(`run-${index}`), ...reading(2)], {
        startMs: 1_000 + index * 100,
      });
      await store.append(records);
    }
    await appendRun(store, 'stuck', [started('stuck'), ...failing(8)]);
    await store.close();
    const { page } = await view([name]);
    const { sources } = await page.json<SourcesAnswer>('/api/sources');
    expect(sources).toMatchObject([{ id: '0', kind, runs: 6 }]);
    const first = await listRuns(page, '?limit=4');
    const second = await listRuns(page, `?limit=4&after=${first.next}`);
    expect([...first.runs, ...second.runs].map(({ runId }) => runId)).toEqual([
      'run-4',
      'run-3',
      'run-2',
      'run-1',
      'run-0',
      'stuck',
    ]);
    expect([first.total, second.next, first.runs[0]?.extras]).toEqual([6, undefined, false]);
    const { rows } = await until(
      () => page.json<RowsAnswer>('/api/rows?ids=0/stuck,0/run-1,0/none'),
      (answer) => answer.rows.every(({ extras }) => extras),
    );
    expect(rows).toMatchObject([
      { runId: 'stuck', extras: true, stuck: true, adviceCount: 0 },
      { runId: 'run-1', extras: true, stuck: false, patterns: [] },
    ]);
  });

  test(`${kind}: the status filter counts runs as successful and failed by their verdict`, async () => {
    const store = openStore(at(name));
    const ended = { kind: 'run_ended', outcome: 'ended', new_messages: [] } as const;
    await appendRun(store, 'said', [started('said'), ...reading(2), { ...ended, success: true }]);
    const check = call('c', 'bash', { command: 'npm test' }, { result: '12 passed' });
    await appendRun(store, 'checked', [started('checked'), ...check, { ...ended, reason: 'answered' }]);
    await appendRun(store, 'limited', [started('limited'), ...reading(2), { ...ended, outcome: 'limit' }]);
    await store.close();
    const { page } = await view([name]);
    expect((await listRuns(page, '?status=success')).total).toBe(2);
    expect((await listRuns(page, '?status=failed')).total).toBe(1);
  });

  test(`${kind}: filters and sorts apply`, async () => {
    const store = openStore(at(name));
    await appendRun(store, 'calm', [
      started('calm', { task: 'Write the report' }),
      ...reading(4),
      { kind: 'run_ended', outcome: 'ended', new_messages: [], success: true },
    ]);
    await appendRun(store, 'stuck', [started('stuck', { task: 'Fix it' }), ...failing(8)]);
    await steeredRun(store, 'told');
    await store.close();
    const { page } = await view([name]);
    const ids = async (query: string): Promise<readonly string[]> => {
      const answer = await listRuns(page, `?${query}`);
      return answer.runs.map(({ runId }) => runId);
    };
    expect(await ids('status=success')).toEqual(['calm']);
    expect(await ids('status=open')).toEqual(['stuck']);
    expect((await ids('pattern=stuck')).toSorted()).toEqual(['stuck', 'told']);
    const kinds =
      (await page.json<RunsAnswer>('/api/runs')).runs.find(({ runId }) => runId === 'stuck')?.patterns ?? [];
    const written = (kinds[0] ?? '').replaceAll('_', ' ').toUpperCase();
    expect(written).toContain(' ');
    expect(await ids(`pattern=${encodeURIComponent(written)}`)).toContain('stuck');
    expect(await ids(`pattern=${kinds[0]}`)).toContain('stuck');
    expect(await ids('sort=wasted')).toEqual(['told', 'stuck', 'calm']);
    const { facets } = await listRuns(page, '?pattern=any');
    // Its own filter hides no value of a facet, every other one does.
    expect(facets.pattern).toContainEqual(['stuck', 2]);
    expect(await ids('sort=calls')).toEqual(['told', 'stuck', 'calm']);
    expect(await ids('sort=calls&compare=0/stuck')).toEqual(['told', 'calm']);
    expect(await ids('q=report')).toEqual(['calm']);
    // Lines in a folder have no index of words.
    expect(await ids('q=part-3.ts')).toEqual(kind === 'sqlite' ? ['calm'] : []);
    expect(await ids('q=!!!')).toEqual([]);
    expect((await page.get('/api/runs?sort=name')).status).toBe(400);
    expect((await page.get('/api/runs?after=nonsense')).status).toBe(400);
    expect((await page.get('/api/runs?source=7')).status).toBe(404);
  });

  test(`${kind}: advice is sent with its text, reason, evidence and outcome`, async () => {
    const store = openStore(at(name));
    await steeredRun(store, 'told');
    await store.close();
    const { page } = await view([name]);
    const { overview, run } = await until(
      () => page.json<RunAnswer>('/api/runs/0/told'),
      (answer) => answer.overview.complete,
    );
    expect(run).toMatchObject({ runId: 'told', extras: true, calls: 12, errors: 12 });
    expect(overview.complete).toBe(true);
    expect(overview.patterns.map((pattern) => pattern.kind)).toContain('repeated_error');
    const [mark] = overview.advice;
    expect(mark).toMatchObject({
      delivered: true,
      delivery: 'delivered',
      channel: 'tool-result',
      point: 'post_tool_result',
    });
    expect(mark?.text).not.toBe('');
    const record = await page.json<TrajectoryRecord>(`/api/runs/0/told/record/${mark?.seq}`);
    expect(record.payload.kind).toMatch(/^(?:feedback|guidance)_produced$/);
    const evidence = overview.advice.flatMap((advice) => advice.evidence);
    for (const { seq } of evidence) {
      expect((await page.json<TrajectoryRecord>(`/api/runs/0/told/record/${seq}`)).payload.kind).toBe('tool_started');
    }
    expect(evidence.length).toBeGreaterThan(0);
    const { rows } = await page.json<RunRowsAnswer>('/api/runs/0/told/rows');
    expect(rows.find(({ kind: row }) => row === 'advice')?.seq).toBe(mark?.seq);
  });

  test(`${kind}: a run is followed from a given record, each record once`, async () => {
    const store = openStore(at(name));
    await appendRun(store, 'live', [started('live'), ...reading(3)]);
    const { page, viewer } = await view([name]);
    await page.json('/api/runs');
    const stream = await openStream(viewer, '/api/runs/0/live/events', { cookie: page.cookie, 'last-event-id': '7' });
    const eighth = await stream.next(({ event }) => event === 'record');
    expect([eighth.id, eighth.data]).toMatchObject(['8', { seq: 8 }]);
    await stream.next(({ event }) => event === 'caught-up');
    const records = scriptRun('live', reading(1), { fromSeq: 10 });
    await store.append(records);
    const seqs: unknown[] = [];
    for (let count = 0; count < 3; count += 1) seqs.push((await stream.next(({ event }) => event === 'record')).id);
    expect(seqs).toEqual(['10', '11', '12']);
    stream.close();
    const resumed = await openStream(viewer, '/api/runs/0/live/events', { cookie: page.cookie, 'last-event-id': '11' });
    expect((await resumed.next(({ event }) => event === 'record')).id).toBe('12');
    resumed.close();
    await store.close();
  });

  test(`${kind}: a run that appears or grows is sent to the list`, async () => {
    const store = openStore(at(name));
    await appendRun(store, 'first', [started('first')]);
    const { page, viewer } = await view([name]);
    const stream = await openStream(viewer, '/api/events', { cookie: page.cookie });
    await listRuns(page);
    await appendRun(store, 'second', [started('second'), ...reading(1)]);
    const appearance = await stream.next(
      ({ data, event }) => event === 'run' && JSON.stringify(data).includes('"second"'),
    );
    expect(appearance.data).toMatchObject({ source: '0', runId: 'second', calls: 1 });
    await store.deleteRun('first');
    const deletion = await stream.next(({ event }) => event === 'gone');
    expect(deletion.data).toEqual({ source: '0', runId: 'first' });
    stream.close();
    await store.close();
  });

  test(`${kind}: a store that is moved away says so, and continues when it is back`, async () => {
    const store = openStore(at(name));
    await appendRun(store, 'kept', [started('kept'), ...reading(2)]);
    await store.close();
    const { page, viewer } = await view([name]);
    await page.json('/api/runs/0/kept');
    const stream = await openStream(viewer, '/api/runs/0/kept/events?from=7', { cookie: page.cookie });
    await stream.next(({ event }) => event === 'caught-up');
    await rename(at(name), at('away'));
    const problem = await stream.next(({ event }) => event === 'problem');
    expect(problem.data).toMatchObject({ code: 'store-gone' });
    const answer = await page.get('/api/runs/0/kept/records');
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([410, { error: { code: 'store-gone' } }]);
    const [source] = (
      await until(
        () => page.json<SourcesAnswer>('/api/sources'),
        ({ sources }) => sources[0]?.problem !== undefined,
      )
    ).sources;
    expect(source?.problem?.code).toBe('store-gone');
    await rename(at('away'), at(name));
    await stream.next(({ event }) => event === 'ok');
    expect((await page.get('/api/runs/0/kept/records')).status).toBe(200);
    await until(
      () => page.json<SourcesAnswer>('/api/sources'),
      ({ sources }) => sources[0]?.problem === undefined,
    );
    stream.close();
  });

  test(`${kind}: another store in its place is reported, and its runs are listed`, async () => {
    const store = openStore(at(name));
    await appendRun(store, 'same', [started('same'), ...reading(2)]);
    await store.close();
    const { page, viewer } = await view([name]);
    await page.json('/api/runs/0/same');
    const stream = await openStream(viewer, '/api/runs/0/same/events', { cookie: page.cookie });
    await stream.next(({ event }) => event === 'caught-up');
    await rm(at(name), { recursive: true });
    await rm(`${at(name)}-wal`, { force: true });
    await rm(`${at(name)}-shm`, { force: true });
    // Something else takes the place that was freed.
    await mkdir(at('filler'));
    const other = openStore(at(name));
    await appendRun(other, 'same', [started('same', { task: 'another' }), ...reading(1)]);
    await appendRun(other, 'new', [started('new')]);
    await stream.next(({ event }) => event === 'reset');
    const again = await stream.next(({ event }) => event === 'record');
    expect(again.data).toMatchObject({ seq: 0, payload: { task: 'another' } });
    const { runs } = await until(
      () => page.json<RunsAnswer>('/api/runs'),
      ({ total }) => total === 2,
    );
    expect(runs.map(({ runId }) => runId).toSorted()).toEqual(['new', 'same']);
    stream.close();
    await other.close();
  });
}

test('any run id can be requested, with any characters', async () => {
  const store = sqliteStore(at('runs.db'));
  const ids = [
    'a/b',
    'a%2Fb',
    '../../etc/passwd',
    'q?x=1#y',
    'ü 😀',
    '..',
    '%',
    "'; DROP TABLE runs; --",
    '<script>alert(1)</script>',
  ];
  for (const id of ids) await appendRun(store, id, [started(id), ...reading(1)]);
  await store.close();
  const { page } = await view(['runs.db']);
  for (const id of ids) {
    const path = `/api/runs/0/${encodeURIComponent(id)}`;
    // A browser takes a segment of dots for a way up, also an escaped one.
    if (id === '..') continue;
    expect((await page.json<RunAnswer>(path)).run.runId).toBe(id);
    expect((await page.json<RecordsAnswer>(`${path}/records`)).records).toHaveLength(4);
  }
  const keys = ids.map((id) => `0/${encodeURIComponent(id)}`).join(',');
  const { rows } = await page.json<RowsAnswer>(`/api/rows?ids=${encodeURIComponent(keys)}`);
  expect(rows.map(({ runId }) => runId)).toEqual(ids);
});

test('records are sent in pages, with long values cut and whole on demand', async () => {
  const store = sqliteStore(at('runs.db'));
  const long = 'x'.repeat(50_000);
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key-${index}`, 'y'.repeat(100)]));
  await appendRun(store, 'run', [
    started('run'),
    ...call('c', 'bash', { long }),
    ...call('d', 'bash', many, { result: long }),
    ...reading(400),
  ]);
  await store.close();
  const { page } = await view(['runs.db']);
  const first = await page.json<RecordsAnswer>('/api/runs/0/run/records?limit=500');
  expect([first.records.length, first.nextSeq, first.lastSeq]).toEqual([500, 500, 1206]);
  expect(first.records[2]?.payload).toMatchObject({ args: { long: { $cut: { chars: 50_000 } } } });
  expect(JSON.stringify(first.records[5]).length).toBeLessThan(400_000);
  expect(first.records[6]?.payload).toMatchObject({ result: { $cut: { chars: 50_000, preview: 'x'.repeat(4_000) } } });
  const whole = await page.json<TrajectoryRecord>('/api/runs/0/run/record/2');
  expect(whole.payload).toMatchObject({ args: { long } });
  const rest = await page.json<RecordsAnswer>('/api/runs/0/run/records?from=1200');
  expect(rest.records.map(({ seq }) => seq)).toEqual([1200, 1201, 1202, 1203, 1204, 1205, 1206]);
  expect((await page.get('/api/runs/0/run/records?limit=501')).status).toBe(400);
  expect((await page.get('/api/runs/0/run/record/9999')).status).toBe(404);
  expect((await page.get('/api/runs/0/none')).status).toBe(404);
});

test('texts are found in both directions, and rows state which calls failed', async () => {
  const store = sqliteStore(at('runs.db'));
  await appendRun(store, 'run', [
    started('run'),
    ...reading(400),
    ...call('e', 'bash', { command: 'NEEDLE' }, { result: 'no', isError: true }),
    ...reading(400, 'other'),
    ...failing(5),
  ]);
  await store.close();
  const { page } = await view(['runs.db']);
  // An answer ends when its time is up and says where to go on.
  const find = async (query: string): Promise<number | null> => {
    const params = new URLSearchParams(query);
    for (;;) {
      const { resumeFrom, seq } = await page.json<FindAnswer>(`/api/runs/0/run/find?${params.toString()}`);
      if (seq !== null || resumeFrom === undefined) return seq;
      params.set('from', String(resumeFrom));
    }
  };
  expect(await find('q=needle')).toBe(1202);
  expect(await find('q=needle&from=1203')).toBe(null);
  expect(await find('q=needle&from=2400&direction=prev')).toBe(1202);
  const { rows, upTo } = await until(
    () => page.json<RunRowsAnswer>('/api/runs/0/run/rows'),
    // The run is read in pieces, at first without the kinds of its calls.
    (answer) => answer.rows.at(-1)?.end === 2_418 && answer.rows.at(-1)?.tool !== undefined,
  );
  const failed = rows.filter((row) => row.failed === true);
  expect(failed.slice(0, 2).map(({ end }) => end)).toEqual([1203, 2406]);
  expect((await page.json<RunRowsAnswer>(`/api/runs/0/run/rows?from=${rows.length - 2}`)).rows).toEqual(rows.slice(-2));
  expect(upTo).toBeGreaterThan(2_406);
});

test('the runs started by a run are its children, and it is their parent', async () => {
  const store = sqliteStore(at('runs.db'));
  await appendRun(store, 'parent', [started('parent')]);
  const [first] = scriptRun('child', [started('child')]);
  if (first === undefined) throw new Error('there is one');
  await store.append([{ ...first, parent_run_id: 'parent', depth: 1 }]);
  await store.close();
  const { page } = await view(['runs.db']);
  const parent = await page.json<RunAnswer>('/api/runs/0/parent');
  expect([parent.run.childCount, parent.children.map(({ runId }) => runId)]).toEqual([1, ['child']]);
  expect((await page.json<RunAnswer>('/api/runs/0/child')).parent?.runId).toBe('parent');
});

test('two runs are aligned by tool and arguments', async () => {
  const store = sqliteStore(at('runs.db'));
  await appendRun(store, 'a', [
    started('a'),
    ...reading(3),
    ...call('x', 'bash', { command: 'make' }),
    ...call('y', 'grep', { q: 1 }),
  ]);
  await appendRun(store, 'b', [
    started('b'),
    ...reading(3),
    ...call('x', 'bash', { command: 'make test' }),
    ...call('z', 'ls', {}),
    ...call('y', 'grep', { q: 1 }),
  ]);
  await store.close();
  const { page } = await view(['runs.db']);
  const compared = await page.json<CompareAnswer>('/api/compare?a=0/a&b=0/b');
  expect(compared).toMatchObject({
    truncated: false,
    a: { calls: 5 },
    b: { calls: 6 },
  });
  expect(compared.rows.map(({ a, b, same }) => [a?.tool, b?.tool, same])).toEqual([
    ['read_file', 'read_file', true],
    ['read_file', 'read_file', true],
    ['read_file', 'read_file', true],
    ['bash', 'bash', false],
    [undefined, 'ls', false],
    ['grep', 'grep', true],
  ]);
});

test('files of any format are read once, and one of lines is followed as it grows', async () => {
  const line = (seq: number, payload: object): string =>
    `${JSON.stringify({ schema_version: 1, seq, run_id: 'r', depth: 0, recorded_at_unix_ms: 1_000 + seq, payload })}\n`;
  await writeFile(
    at('run.jsonl'),
    line(0, { kind: 'run_started', identity: { run_id: 'r', depth: 0 } }) + line(1, { kind: 'turn_started' }),
  );
  const steps = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'done' },
  ];
  await writeFile(at('chat.json'), JSON.stringify(steps));
  await writeFile(at('broken.json'), '{"nothing": "known"}');
  const { page, viewer } = await view(['run.jsonl', 'chat.json', 'broken.json']);
  const { sources } = await until(
    () => page.json<SourcesAnswer>('/api/sources'),
    (answer) => answer.sources.every(({ indexing }) => indexing === undefined),
  );
  expect(sources.map(({ kind, runs }) => [kind, runs])).toEqual([
    ['files', 1],
    ['files', 1],
    ['files', 0],
  ]);
  expect(sources[2]?.problem?.message).toContain('broken.json');
  const runId = (await listRuns(page, '?source=0')).runs[0]?.runId ?? '';
  const stream = await openStream(viewer, `/api/runs/0/${encodeURIComponent(runId)}/events?from=2`, {
    cookie: page.cookie,
  });
  await stream.next(({ event }) => event === 'caught-up');
  await appendFile(
    at('run.jsonl'),
    line(2, { kind: 'run_ended', outcome: 'ended', new_messages: [] }) + line(3, { kind: 'turn_started' }),
  );
  const recordEvent = await stream.next(({ event }) => event === 'record');
  expect(recordEvent.data).toMatchObject({ payload: { kind: 'run_ended' } });
  stream.close();
});

test('of many files the most recently changed ones are followed; runs are filtered by the folder in which they worked', async () => {
  const line = (session: string, cwd: string, content: string, second: number): string =>
    `${JSON.stringify({ type: 'user', sessionId: session, uuid: `${session}${second}`, timestamp: new Date(1_000 * second).toISOString(), cwd, version: '2.1', message: { role: 'user', content } })}\n`;
  await mkdir(at('many'));
  for (let file = 0; file < 30; file += 1) {
    const path = join(at('many'), `s${file}.jsonl`);
    await writeFile(path, line(`s${file}`, file < 10 ? '/work/app' : '/work/site', 'Do it', 1));
    await utimes(path, file, file);
  }
  const { page } = await view(['many']);
  await until(
    () => listRuns(page),
    ({ pending, total }) => total === 30 && pending === 0,
  );
  const { facets, total } = await listRuns(page, '?project=/work/app');
  expect([total, facets.project]).toEqual([
    10,
    [
      ['/work/site', 20],
      ['/work/app', 10],
    ],
  ]);
  await appendFile(
    join(at('many'), 's29.jsonl'),
    line('s29', '/work/site', 'And that', 2) + line('s29', '/work/site', 'And this', 3),
  );
  await until(
    () => page.json<RunRowsAnswer>('/api/runs/0/s29/rows'),
    ({ rows }) => rows.filter(({ kind }) => kind === 'prompt').length === 3,
  );
});

test('sessions of agent programs are a source; a session that the store has too is listed once', async () => {
  const session = (id: string): string =>
    `${JSON.stringify({ type: 'user', sessionId: id, uuid: id, timestamp: new Date(1_000).toISOString(), cwd: '/work/app', version: '2.1', message: { role: 'user', content: `Do ${id}` } })}\n`;
  const sessions = await Promise.all(
    ['known', 'new'].map(async (id) => {
      await writeFile(at(`${id}.jsonl`), session(id));
      return { path: at(`${id}.jsonl`), modifiedAtMs: 1, format: 'claude-code' } as const;
    }),
  );
  const store = sqliteStore(at('runs.db'));
  await appendRun(store, 'known', [started('known'), ...reading(2)]);
  await store.close();
  const { page } = await view(['runs.db'], { sessions });
  const { runs } = await until(
    () => listRuns(page),
    ({ pending, total }) => total === 2 && pending === 0,
  );
  expect(runs.map(({ runId, source }) => `${source} ${runId}`).toSorted()).toEqual(['0 known', '1 new']);
  expect((await page.json<SourcesAnswer>('/api/sources')).sources[1]).toMatchObject({ kind: 'sessions', runs: 2 });
});

test('a run from telemetry that names a session does not hide it, and a work tree belongs to its project', async () => {
  const sessions = await Promise.all(
    ['/work/app', '/work/app/.claude/worktrees/second'].map(async (cwd, index) => {
      const path = at(`s${index}.jsonl`);
      const message = { role: 'user', content: `Do ${index}` };
      const more = { uuid: `u${index}`, timestamp: new Date(1_000).toISOString(), version: '2.1', message };
      await writeFile(path, `${JSON.stringify({ type: 'user', sessionId: `s${index}`, cwd, ...more })}\n`);
      return { path, modifiedAtMs: 1, format: 'claude-code' } as const;
    }),
  );
  const store = sqliteStore(at('runs.db'));
  const identity = { run_id: 'trace-1', conversation_id: 's0', depth: 0 };
  await appendRun(store, 'trace-1', [{ kind: 'run_started', identity, format: 'otlp' }, ...reading(2)]);
  await store.close();
  const { page } = await view(['runs.db'], { sessions });
  const { facets, runs } = await until(
    () => listRuns(page),
    ({ pending, total }) => total === 3 && pending === 0,
  );
  expect(runs.map(({ runId }) => runId).toSorted()).toEqual(['s0', 's1', 'trace-1']);
  expect(facets.project).toContainEqual(['/work/app', 2]);
});

test('the last answer and the ending of a followed file are shown, a hanging call too, and both when it grows', async () => {
  const line = (type: 'user' | 'assistant', message: object, second: number): string =>
    `${JSON.stringify({ type, sessionId: 's', uuid: `u${second}`, timestamp: new Date(1_000 * second).toISOString(), cwd: '/', version: '2.1', message: { role: type, ...message } })}\n`;
  const said = (id: string, second: number, text: string): string =>
    line('assistant', { id, content: [{ type: 'text', text }], stop_reason: 'end_turn', model: 'm' }, second);
  await writeFile(at('s.jsonl'), line('user', { content: 'Do it' }, 1) + said('m1', 2, 'It is done.'));
  const { page } = await view(['s.jsonl']);
  const [run] = (await listRuns(page)).runs;
  expect(run).toMatchObject({ outcome: 'ended', lastSeq: expect.any(Number) });
  const kindsOf = async (): Promise<string> => {
    const { records } = await page.json<RecordsAnswer>(`/api/runs/0/${run?.runId}/records`);
    return JSON.stringify(records.map(({ payload }) => payload));
  };
  expect(await kindsOf()).toMatch(/It is done\..*run_ended/);
  const use = { type: 'tool_use', id: 'c1', name: 'Bash', input: { command: 'sleep 999' } };
  const hanging = line('assistant', { id: 'm2', content: [use], stop_reason: 'tool_use', model: 'm' }, 4);
  await appendFile(at('s.jsonl'), line('user', { content: 'And that' }, 3) + hanging);
  const rows = await until(
    () => listRuns(page),
    ({ runs }) => runs[0]?.calls === 1,
  );
  expect(rows.runs[0]?.outcome).toBeUndefined();
  expect(await kindsOf()).toMatch(/It is done\.(?!.*run_ended).*And that.*sleep 999/);
  const result = { content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'ok' }] };
  await appendFile(at('s.jsonl'), line('user', result, 5) + said('m3', 6, 'Now too.'));
  await until(kindsOf, (text) => /sleep 999.*"ok".*Now too\..*run_ended/.test(text));
  expect((await kindsOf()).match(/It is done/g)).toHaveLength(1);
});

test('the store of files contains no secrets, and is deleted at the end', async () => {
  const secret = `sk-ant-api03-${'Ab1'.repeat(30)}`;
  await writeFile(
    at('chat.json'),
    JSON.stringify([
      { role: 'user', content: `use ${secret}` },
      { role: 'assistant', content: 'done' },
    ]),
  );
  const { page } = await view(['chat.json']);
  const { runs } = await until(
    () => page.json<RunsAnswer>('/api/runs'),
    ({ total }) => total === 1,
  );
  const { text } = await page.get(`/api/runs/0/${encodeURIComponent(runs[0]?.runId ?? '')}/records`);
  expect(text).toContain('[REDACTED');
  expect(text).not.toContain(secret);
});

test('a store that is locked says so, and can be read again when it is not', async () => {
  const store = sqliteStore(at('runs.db'));
  await appendRun(store, 'run', [started('run')]);
  await store.close();
  const { page } = await view(['runs.db']);
  const other = new DatabaseSync(at('runs.db'));
  // A commit makes the log and its shared memory, whose locks stay with this connection.
  other.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${LAYOUT}; COMMIT`);
  other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
  const answer = await page.get('/api/runs/0/run/records');
  const listed = await page.json<SourcesAnswer>('/api/sources');
  other.close();
  expect(listed.sources[0]?.problem?.code).toBe('store-locked');
  expect([answer.status, JSON.parse(answer.text)]).toMatchObject([409, { error: { code: 'store-locked' } }]);
  expect(
    (
      await until(
        () => page.get('/api/runs/0/run/records'),
        ({ status }) => status === 200,
      )
    ).status,
  ).toBe(200);
});

test('a damaged record is named, and the records before it are shown', async () => {
  const store = sqliteStore(at('runs.db'));
  await appendRun(store, 'run', [started('run'), ...reading(3)]);
  await store.close();
  const damage = new DatabaseSync(at('runs.db'));
  damage.exec(`UPDATE records SET json = '{"broken' WHERE seq = 5`);
  damage.close();
  const { page } = await view(['runs.db']);
  const answer = await page.json<RecordsAnswer>('/api/runs/0/run/records');
  expect([answer.records.length, answer.problem?.code]).toEqual([5, 'store-damaged']);
  const { overview } = await until(
    () => page.json<RunAnswer>('/api/runs/0/run'),
    (shown) => shown.overview.complete,
  );
  expect(overview.nextSeq).toBe(5);
});

test('the overview of a long run has bounded lists with all counts', async () => {
  const store = sqliteStore(at('runs.db'));
  await appendRun(store, 'long', [started('long'), ...reading(4_000), ...failing(4)]);
  await store.close();
  const { page } = await view(['runs.db']);
  const overview = await until(
    async () => (await page.json<RunAnswer>('/api/runs/0/long?again')).overview,
    ({ complete }) => complete,
  );
  const sum = (list: readonly number[] = []): number => list.reduce((all, one) => all + one, 0);
  expect(overview.buckets).toBeLessThanOrEqual(2_000);
  expect([sum(overview.calls), sum(overview.errors)]).toEqual([4_004, 4]);
  expect(overview.patterns.map(({ fromCall, fromSeq }) => [fromCall, fromSeq])).toContainEqual([4_001, 12_002]);
});

test('labels are read from and written to the given file', async () => {
  await writeFile(at('labels.csv'), 'id,target,split,note\nold,ok,dev,"said, once"\n');
  const store = sqliteStore(at('runs.db'));
  await store.close();
  const { page } = await view(['runs.db'], { labels: at('labels.csv') });
  const answer = await page.post('/api/labels', { id: 'run@3', target: 'stuck', note: '=1+1' });
  expect(answer.status).toBe(200);
  await page.post('/api/labels', { id: 'old', target: 'skip' });
  const { labels } = await page.json<LabelsAnswer>('/api/labels');
  expect(labels).toEqual([
    { id: 'old', target: 'skip', split: 'dev', note: 'said, once' },
    { id: 'run@3', target: 'stuck', split: '', note: '=1+1' },
  ]);
  await page.post('/api/labels', { id: 'old', target: null });
  expect((await page.json<LabelsAnswer>('/api/labels')).labels).toHaveLength(1);
  for (const wrong of [{ id: '', target: 'ok' }, { id: 'x', target: 'yes' }, { target: 'ok' }, [], 'text', null]) {
    expect((await page.post('/api/labels', wrong)).status).toBe(400);
  }
  const many = Array.from({ length: 20 }, (_, index) =>
    page.post('/api/labels', { id: `many-${index}`, target: 'ok' }),
  );
  await Promise.all(many);
  expect((await page.json<LabelsAnswer>('/api/labels')).labels).toHaveLength(21);
});

test('a file of labels that cannot be read does not keep the runs from being listed', async () => {
  await writeFile(at('labels.csv'), 'name,price\napple,2\n');
  const store = sqliteStore(at('runs.db'));
  await appendRun(store, 'calm', [started('calm'), ...reading(2)]);
  await store.close();
  const { page } = await view(['runs.db'], { labels: at('labels.csv') });
  expect((await page.get('/api/labels')).status).not.toBe(200);
  expect((await listRuns(page)).runs.map(({ runId }) => runId)).toEqual(['calm']);
});

test('runs with a flag that has no label are a filter, and the file of labels is sent as it is', async () => {
  const store = sqliteStore(at('runs.db'));
  await appendRun(store, 'loop', [started('loop'), ...failing(8)]);
  await appendRun(store, 'calm', [started('calm'), ...reading(2)]);
  await store.close();
  const { page } = await view(['runs.db'], { labels: at('labels.csv') });
  const unlabelled = (): Promise<RunsAnswer> =>
    until(
      () => page.json<RunsAnswer>('/api/runs?status=unlabelled'),
      ({ pending }) => pending === 0,
    );
  const [row, ...others] = (await unlabelled()).runs;
  expect([row?.runId, others.length]).toEqual(['loop', 0]);
  for (const flagged of row?.patternCalls ?? [])
    await page.post('/api/labels', { id: `loop@${flagged}`, target: 'stuck' });
  expect((await unlabelled()).runs).toEqual([]);
  expect((await page.get('/api/labels.csv')).text).toBe(await readFile(at('labels.csv'), 'utf8'));
});

test('a listener that does not read costs little memory, and gets everything once it reads', async () => {
  const store = sqliteStore(at('runs.db'));
  const count = 4_000;
  const text = 'z'.repeat(19_000);
  const payloads = Array.from({ length: count }, (_, index): TrajectoryPayload => ({
    kind: 'message_appended',
    message: { role: 'user', content: `${index} ${text}` },
  }));
  await appendRun(store, 'big', payloads);
  await store.close();
  payloads.length = 0;
  const { page, viewer } = await view(['runs.db']);
  await page.json('/api/runs');
  const socket = connect(viewer.port, '127.0.0.1');
  socket.pause();
  const before = heldBytes();
  socket.write(
    `GET /api/runs/0/big/events HTTP/1.1\r\nHost: 127.0.0.1:${viewer.port}\r\nCookie: ${page.cookie}\r\n\r\n`,
  );
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  // All of it is 76 MB.
  expect(heldBytes() - before).toBeLessThan(40 * 1024 * 1024);
  let ids = 0;
  let rest = '';
  await new Promise<void>((resolve) => {
    socket.setEncoding('utf8').on('data', (piece: string) => {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      ids += lines.filter((line) => line.startsWith('id: ')).length;
      if (ids === count) resolve();
    });
    socket.resume();
  });
  socket.destroy();
  expect(ids).toBe(count);
});

/** After a collection: what was let go of does not count. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  const { arrayBuffers, external, heapUsed } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}

test('extras are cached for the next start while a run is unchanged', async () => {
  const store = sqliteStore(at('runs.db'));
  await appendRun(store, 'stuck', [started('stuck'), ...failing(8)]);
  await appendRun(store, 'calm', [started('calm'), ...reading(2)]);
  await store.flush();
  const cacheFolder = at('cache');
  const first = await view(['runs.db'], { cacheFolder });
  await listRuns(first.page, '?pattern=any');
  for (const viewer of open.splice(0)) await viewer.close();
  const whole = scriptRun('calm', [started('calm'), ...reading(2), ...failing(1)]);
  await store.append(whole.slice(scriptRun('calm', [started('calm'), ...reading(2)]).length));
  await store.close();
  const { page } = await view(['runs.db'], { cacheFolder });
  const { runs } = await page.json<RunsAnswer>('/api/runs');
  const seen = runs.map(({ extras, patterns, runId, wasted }) => [runId, extras, patterns?.length, wasted?.calls]);
  expect(seen).toContainEqual(['calm', false, undefined, undefined]);
  expect(seen.find(([runId]) => runId === 'stuck')).toEqual(['stuck', true, expect.any(Number), expect.any(Number)]);
});

test('an unusable cache only costs time', async () => {
  const store = sqliteStore(at('runs.db'));
  await appendRun(store, 'stuck', [started('stuck'), ...failing(8)]);
  await store.close();
  await writeFile(at('cache'), 'a file where a folder should be');
  const { page } = await view(['runs.db'], { cacheFolder: at('cache') });
  expect((await listRuns(page, '?pattern=stuck')).total).toBe(1);
});

test('the state at a call depends on the calls up to it and nothing later', async () => {
  const store = sqliteStore(at('runs.db'));
  await appendRun(store, 'run', [
    started('run'),
    ...call('a', 'read_file', { path: 'a.ts' }, { result: 'one' }),
    ...call('b', 'bash', { command: 'npm test' }, { result: 'Error: 1 failed', isError: true }),
    ...call('c', 'write_file', { path: 'a.ts', content: 'two' }, { result: 'ok' }),
    ...call('d', 'bash', { command: 'npm test' }, { result: 'ok' }),
  ]);
  await store.close();
  const { page } = await view(['runs.db']);
  const state = (number: number): Promise<RunState> => page.json(`/api/runs/0/run/state?call=${number}`);
  const factsAt = async (number: number): Promise<unknown> => Object.fromEntries((await state(number)).facts);
  expect(await state(1)).toMatchObject({ call: 1 });
  expect(await factsAt(1)).toMatchObject({ Read: ['1 file', 'a.ts'], Written: ['0 files'], Checks: [] });
  expect(await factsAt(2)).toMatchObject({
    Checks: ['failed at call 2: npm test'],
    Failing: [expect.stringMatching(/^call 2, bash: .*1 failed/)],
  });
  expect(await factsAt(4)).toMatchObject({
    Written: ['1 file', 'a.ts'],
    Checks: ['passed at call 4: npm test'],
    Failing: [],
  });
});
