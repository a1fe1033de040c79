import { afterEach, beforeEach, expect, test } from 'vitest';

import { memoryStore } from '../../core/store/memory-store.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import type { TrajectoryStore } from '../../core/store/trajectory-store.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import type { TrajectoryPayload } from '../../core/records/trajectory-record.ts';
import { scriptCalls, scriptRun } from '../../../test/support/script-records.ts';
import { groupOf } from './run-query.ts';
import { RunOverviews } from './run-overviews.ts';
import type { RunReader } from './read-records.ts';
import { ViewerSource } from './viewer-source.ts';

/** Longer than any test: the answer comes when the run was read. */
const LONG_MS = 600_000;

let store: TrajectoryStore;
let source: ViewerSource;
let overviews: RunOverviews;
/** Where each reading began. */
let readFrom: (readonly [string, number])[];
/** Set to make reading wait. */
let gate: Promise<void>;

beforeEach(() => {
  store = memoryStore();
  readFrom = [];
  gate = Promise.resolve();
  const reader: RunReader = {
    listRuns: (query) => store.listRuns(query),
    findRun: (runId) => store.findRun(runId),
    async *readRun(runId, query) {
      readFrom.push([runId, query?.fromSeq ?? 0]);
      await gate;
      yield* store.readRun(runId, query);
    },
    search: (query) => store.search(query),
    changes: async () => undefined,
    close: async () => {},
  };
  source = new ViewerSource({ id: '0', path: 'memory', kind: 'files', open: async () => reader });
  overviews = new RunOverviews(source);
});

afterEach(() => source.close());

async function run(runId: string): Promise<RunSummary> {
  const found = await store.findRun(runId);
  if (found === undefined) throw new Error(`the test stored ${runId}`);
  return found;
}

test('a run is read once, and then only what was appended', async () => {
  await store.append(scriptCalls('a', 10));
  expect((await overviews.overview(await run('a'), LONG_MS)).nextSeq).toBe(10);
  await overviews.overview(await run('a'), LONG_MS);
  await overviews.extras(await run('a'), LONG_MS);
  await store.append(scriptCalls('a', 5, 10));
  expect(overviews.knownExtras(await run('a'))).toBe(undefined);
  expect((await overviews.overview(await run('a'), LONG_MS)).nextSeq).toBe(15);
  expect(overviews.knownExtras(await run('a'))?.stuck).toBe(false);
  expect(readFrom).toEqual([
    ['a', 0],
    ['a', 10],
  ]);
});

test('a session needs its person for a check that failed in a subagent, as in the report', async () => {
  const answered: TrajectoryPayload = { kind: 'message_appended', message: { role: 'assistant', content: 'Done.' } };
  const called = (name: string, args: { readonly [key: string]: string }, result: string): TrajectoryPayload[] => [
    { kind: 'tool_started', tool_call_id: name, tool_name: name, args },
    { kind: 'tool_ended', tool_call_id: name, tool_name: name, result, is_error: result.includes('failed') },
  ];
  const tests = called('Bash', { command: 'npm test' }, '1 failed, 2 passed');
  const below = scriptRun('s/a', [...tests, answered], { startMs: 2_000 });
  await store.append(scriptRun('s', [...called('Task', { prompt: 'Test it.' }, 'done'), answered]));
  await store.append(below.map((record) => Object.assign({}, record, { parent_run_id: 's', depth: 1 })));
  await source.refresh();
  await overviews.extras(await run('s/a'), LONG_MS);
  const session = await run('s');
  const extras = await overviews.extras(session, LONG_MS);
  expect(extras).toMatchObject({
    verdict: 'answered',
    evidence: 'it answered; a check (call 1 of a subagent, npm test) failed and did not pass later',
    check: { command: 'npm test', failed: true },
  });
  expect(extras).not.toHaveProperty('work');
  expect(groupOf(session, extras, 3_000)).toBe('needs');
});

test('concurrent requests share one read', async () => {
  await store.append(scriptCalls('a', 10));
  const summary = await run('a');
  await Promise.all([
    overviews.overview(summary, LONG_MS),
    overviews.overview(summary, LONG_MS),
    overviews.extras(summary, LONG_MS),
  ]);
  expect(readFrom).toHaveLength(1);
});

test('a caller that does not wait gets the records read so far, and reading continues', async () => {
  await store.append(scriptCalls('a', 10));
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  const summary = await run('a');
  expect(await overviews.overview(summary, 0)).toMatchObject({ nextSeq: 0, complete: false });
  resolve();
  expect(await overviews.overview(summary, LONG_MS)).toMatchObject({ nextSeq: 10, complete: true });
  expect(readFrom).toHaveLength(1);
});

test('a pass over many runs does not evict an opened one', async () => {
  await store.append(scriptCalls('opened', 10));
  await overviews.overview(await run('opened'), LONG_MS);
  for (let index = 0; index < 100; index += 1) {
    await store.append(scriptCalls(`run-${index}`, 1));
    expect(await overviews.extras(await run(`run-${index}`), LONG_MS)).toMatchObject({ adviceCount: 0 });
  }
  await overviews.overview(await run('opened'), LONG_MS);
  expect(readFrom.filter(([runId]) => runId === 'opened')).toHaveLength(1);
});

test('the timeline of a long run outlives a restart, until the run grows', async () => {
  const folder = await tempFolder();
  try {
    for (let seq = 0; seq < 4_000; seq += 500) await store.append(scriptCalls('long', 500, seq));
    const first = new RunOverviews(source, folder.path);
    const overview = await first.overview(await run('long'), LONG_MS);
    const { rows } = await first.timeline(await run('long'), LONG_MS);
    first.close();
    const second = new RunOverviews(source, folder.path);
    expect(await second.overview(await run('long'), 0)).toEqual(overview);
    const cached = await second.timeline(await run('long'), 0);
    expect(rows.list.length).toBeGreaterThan(1_000);
    expect(cached.rows.list).toEqual(rows.list);
    expect(cached.rows.seqOf(1_000)).toBe(rows.seqOf(1_000));
    // The first look, and the rest.
    expect(readFrom).toHaveLength(2);
    await store.append(scriptCalls('long', 10, 4_000));
    expect(await second.overview(await run('long'), LONG_MS)).toMatchObject({ nextSeq: 4_010, complete: true });
    expect(readFrom.slice(2)).toEqual([
      ['long', 0],
      ['long', 0],
    ]);
    second.close();
  } finally {
    await folder.dispose();
  }
});

test('a run that was deleted and recreated is read again', async () => {
  await store.append(scriptCalls('a', 10));
  await source.refresh();
  await overviews.overview(await run('a'), LONG_MS);
  await store.deleteRun('a');
  await store.append(scriptCalls('a', 3));
  const lookAgain = async (): Promise<number> => {
    await source.refresh();
    return (await overviews.overview(await run('a'), LONG_MS)).nextSeq;
  };
  await expect.poll(lookAgain).toBe(3);
});
