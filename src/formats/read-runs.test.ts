import { expect, test } from 'vitest';

import type { TrajectoryPayload } from '../core/records/trajectory-record.ts';
import type { ImportedRun, ImportItem } from './importer.ts';
import { readRunGroups, readRuns, type ReadRunsItem } from './read-runs.ts';
import { RunIds } from './run-ids.ts';

const turn: TrajectoryPayload = { kind: 'turn_started' };

function run(key: string, more: Partial<ImportedRun> = {}): ImportItem {
  return { type: 'run', run: { key, id: key, format: 'calls', ...more } };
}

function record(runKey: string, payload: TrajectoryPayload = turn, atMs?: number): ImportItem {
  return { type: 'record', runKey, payload, ...(atMs === undefined ? {} : { atMs }) };
}

async function* stream(items: readonly ImportItem[], error?: Error): AsyncGenerator<ImportItem> {
  yield* items;
  if (error !== undefined) throw error;
}

async function read(items: readonly ImportItem[], ids = new RunIds()): Promise<readonly ReadRunsItem[]> {
  return Array.fromAsync(readRuns(stream(items), { source: 'a.json', ids }));
}

function lines(items: readonly ReadRunsItem[]): readonly string[] {
  return items.map((item) => {
    if (item.type === 'end') return `${item.run.id} end`;
    if (item.type === 'diagnostic') return `${item.diagnostic.severity} ${item.run?.id ?? '-'}`;
    const { run_id: id, seq, depth, recorded_at_unix_ms: at, payload } = item.record;
    return `${id ?? ''} ${seq} ${payload.kind} depth ${depth} at ${at}`;
  });
}

test('interleaved runs are stamped each by itself, begin with run_started and end with the source', async () => {
  const items = await read([run('a', { startedAtMs: 5 }), run('b'), record('a'), record('b', turn, 7), record('a')]);
  expect(lines(items)).toEqual([
    'a 0 run_started depth 0 at 5',
    'b 0 run_started depth 0 at 0',
    'a 1 turn_started depth 0 at 0',
    'b 1 turn_started depth 0 at 7',
    'a 2 turn_started depth 0 at 0',
    'a end',
    'b end',
  ]);
});

test('run_started carries the facts of the importer', async () => {
  const [first] = await read([run('k', { id: 'x', task: 'fix it', modelId: 'm', conversationId: 'c' })]);
  expect(first).toMatchObject({
    record: {
      schema_version: 1,
      payload: {
        identity: { run_id: 'x', depth: 0, model_id: 'm', conversation_id: 'c' },
        task: 'fix it',
        source: 'a.json#x',
        format: 'calls',
      },
    },
  });
});

test('a gap record fills seqs, so the next record stands behind it', async () => {
  const gap: TrajectoryPayload = { kind: 'gap', through_seq: 9, reason: 'full' };
  const stale: TrajectoryPayload = { kind: 'gap', through_seq: 2, reason: 'full' };
  const items = await read([run('a'), record('a', gap), record('a', stale), record('a')]);
  expect(items.flatMap((item) => (item.type === 'record' ? [item.record.seq] : []))).toEqual([0, 1, 10, 11]);
});

test('an id that another source used gets a number, and its child follows it', async () => {
  const ids = new RunIds();
  await read([run('a')], ids);
  const items = await read([run('0', { id: 'a' }), run('1', { id: 'child', parentId: 'a' })], ids);
  const started = items.flatMap((item) => (item.type === 'record' ? [item.record] : []));
  expect(started.map((one) => [one.run_id, one.parent_run_id, one.depth])).toEqual([
    ['a#2', undefined, 0],
    ['child', 'a#2', 1],
  ]);
});

test('a grandchild lies two levels deep, also when its parent was read from another source', async () => {
  const ids = new RunIds();
  await read([run('root'), run('child', { parentId: 'root' })], ids);
  const [item] = await read([run('grandchild', { parentId: 'child' })], ids);
  expect(item).toMatchObject({ record: { depth: 2, parent_run_id: 'child' } });
});

test('ids come out well formed, not empty and of bounded length', async () => {
  const ids = new RunIds();
  expect(ids.take('')).toBe('run');
  expect(ids.take('\ud800').isWellFormed()).toBe(true);
  const long = ids.take('x'.repeat(100_000));
  expect(long.length).toBeLessThanOrEqual(512);
  expect(ids.take(`${'x'.repeat(100_000)}y`)).not.toBe(long);
});

test('a record outside a run is reported, not lost in silence', async () => {
  const items = await read([run('a'), { type: 'end', runKey: 'a' }, record('a'), record('?')]);
  expect(lines(items).slice(1)).toEqual(['a end', 'error -', 'error -']);
});

test('runs that are open when reading fails end before the failure is thrown', async () => {
  const seen: ReadRunsItem[] = [];
  const reading = async (): Promise<void> => {
    for await (const item of readRuns(stream([run('a')], new Error('torn')), { source: 's' })) seen.push(item);
  };
  await expect(reading()).rejects.toThrow('torn');
  expect(lines(seen)).toEqual(['a 0 run_started depth 0 at 0', 'a end']);
});

async function readGroups(groups: AsyncIterable<Iterable<ImportItem>>): Promise<readonly (ReadRunsItem | Error)[]> {
  const all: (ReadRunsItem | Error)[] = [];
  try {
    for await (const items of readRunGroups(groups, { source: 'a.json' })) all.push(...items);
  } catch (error) {
    all.push(error instanceof Error ? error : new Error('no error'));
  }
  return all;
}

test('read list by list the items are the same, and open runs end before an error of a list passes on', async () => {
  const items = [run('a', { startedAtMs: 5 }), run('b'), record('a'), record('b', turn, 7), record('a')];
  async function* lists(): AsyncGenerator<Iterable<ImportItem>> {
    yield items.slice(0, 2);
    yield items.slice(2);
  }
  expect(await readGroups(lists())).toEqual(await read(items));
  function* torn(): Generator<ImportItem> {
    yield* items.slice(0, 2);
    throw new Error('torn');
  }
  async function* broken(): AsyncGenerator<Iterable<ImportItem>> {
    yield torn();
    yield items.slice(2);
  }
  const found = await readGroups(broken());
  expect(found.slice(-3)).toMatchObject([{ type: 'end' }, { type: 'end' }, { message: 'torn' }]);
  expect(found).toHaveLength(5);
});
