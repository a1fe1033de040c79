import { present } from '../../../src/core/base/json.ts';
import { CoxswainError } from '../../../src/core/base/error.ts';
import type { TrajectoryRecord } from '../../../src/core/records/trajectory-record.ts';
import type { TrajectoryStore } from '../../../src/core/store/trajectory-store.ts';
import type { StoreContractCase } from './contract-store.ts';
import { listAll, readAll, scriptCalls, scriptRecord } from '../script-records.ts';

/** Tests what `deleteRun` deletes and preserves, and what `sizeOf` returns. */
export function deleteContract({ test, expect }: StoreContractCase): void {
  test('a deleted run disappears from all results, and other runs are unchanged', async ({ store }) => {
    const calls = scriptCalls('a', 7);
    await store.append(calls);
    const nextCall = scriptCalls('a', 1, calls.length);
    await store.transact('a', () => ({ records: nextCall, snapshot: { at: 7 }, result: 0 }));
    await store.append(scriptCalls('b', 5));
    await store.transact('b', () => ({ records: [], snapshot: 'kept', result: 0 }));
    expect(await hitsOf(store)).toHaveLength(13);

    expect(await store.deleteRun('a')).toBe(true);

    expect(await store.findRun('a')).toBeUndefined();
    expect(await readAll(store, 'a')).toEqual([]);
    expect((await listAll(store)).map((run) => run.runId)).toEqual(['b']);
    expect(new Set(await hitsOf(store))).toEqual(new Set(['b/0', 'b/1', 'b/2', 'b/3', 'b/4']));
    expect(await snapshotOf(store, 'a')).toEqual([0, -1, undefined]);
    expect(await readAll(store, 'b')).toEqual(scriptCalls('b', 5));
    expect(await snapshotOf(store, 'b')).toEqual([5, 4, 'kept']);
    expect(await Array.fromAsync(store.verify())).toEqual([]);
    expect(await store.deleteRun('a')).toBe(false);
  });

  test('deleting an unknown run or an invalid run id is not an error', async ({ store }) => {
    for (const runId of ['a', '', '\ud800', 'x'.repeat(1025)]) expect(await store.deleteRun(runId)).toBe(false);
    await store.append(scriptCalls('a', 2));
    expect(await store.deleteRun('b')).toBe(false);
    expect(await readAll(store, 'a')).toHaveLength(2);
  });

  test('deleting a run that has only a snapshot removes the snapshot', async ({ store }) => {
    await store.transact('a', () => ({ records: [], snapshot: 1, result: 0 }));
    expect(await store.deleteRun('a')).toBe(true);
    expect(await snapshotOf(store, 'a')).toEqual([0, -1, undefined]);
    expect(await store.deleteRun('a')).toBe(false);
  });

  test('a new run with the id of a deleted one starts at seq 0, and continuing the deleted one is a store-gap', async ({
    store,
  }) => {
    await store.append(scriptCalls('a', 6));
    expect(await hitsOf(store)).toHaveLength(6);
    await store.deleteRun('a');
    await expect(store.append(scriptCalls('a', 2, 6))).rejects.toMatchObject({ code: 'store-gap' });
    const newRecords = [0, 1, 2].map((seq) => scriptRecord({ runId: 'a', seq, atMs: 9000 + seq }));
    expect(await store.append(newRecords)).toBe(2);
    expect(await readAll(store, 'a')).toEqual(newRecords);
    expect(await hitsOf(store)).toEqual([]);
    expect(await store.findRun('a')).toMatchObject({ records: 3, startedAtMs: 9000, calls: 0, turns: 3 });
    expect(await Array.fromAsync(store.verify())).toEqual([]);
    await store.deleteRun('a');
    const expectedHits = [scriptRecord({ runId: 'a', seq: 0, payload: { kind: 'compaction', trigger: 'a new call' } })];
    await store.transact('a', () => ({ records: expectedHits, snapshot: 'new', result: 0 }));
    expect(await hitsOf(store)).toEqual(['a/0']);
    expect(await snapshotOf(store, 'a')).toEqual([1, 0, 'new']);
  });

  test('calls for one run that are not awaited take effect in the order of the calls', async ({ store }) => {
    const first = store.append(scriptCalls('a', 4));
    const secondDelete = store.deleteRun('a');
    const third = store.append(scriptCalls('a', 2));
    const fourth = store.transact('a', (view) => ({ records: [], result: view.nextSeq }));
    expect(await Promise.all([first, secondDelete, third, fourth])).toEqual([3, true, 1, 2]);
    expect(await readAll(store, 'a')).toEqual(scriptCalls('a', 2));
    const results = await Promise.all([store.deleteRun('a'), store.deleteRun('a'), store.deleteRun('a')]);
    expect(results.filter((one) => one)).toEqual([true]);
  });

  test('a hostile run id is deleted like any other, and only its run', async ({ store }) => {
    const ids = ['', '..', '../x', 'a/b', 'nul\0byte', 'nul', 'x'.repeat(300), 'X'.repeat(300), '😀', 'é', '%', '_'];
    for (const runId of ids) await store.append(scriptCalls(runId, 2));
    for (let index = 0; index < ids.length; index += 2) expect(await store.deleteRun(ids[index] ?? '')).toBe(true);
    const leftIds = ids.filter((_, index) => index % 2 === 1);
    expect(new Set((await listAll(store)).map((run) => run.runId))).toEqual(new Set(leftIds));
    for (const runId of leftIds) expect(await readAll(store, runId)).toEqual(scriptCalls(runId, 2));
  });

  test('a run of many records is deleted while others are written', async ({ store }) => {
    for (let seq = 0; seq < 2500; seq += 500) await store.append(scriptCalls('big', 500, seq));
    const deleting = store.deleteRun('big');
    for (let seq = 0; seq < 40; seq += 2) await store.append(scriptCalls('other', 2, seq));
    expect(await deleting).toBe(true);
    expect(await readAll(store, 'big')).toEqual([]);
    expect(await readAll(store, 'other')).toEqual(scriptCalls('other', 40));
    expect(await Array.fromAsync(store.verify())).toEqual([]);
  });

  test('reading a run during its deletion ends early or throws store-io', async ({ store }) => {
    const records = longRecords('a', 600);
    await store.append(records.slice(0, 300));
    await store.append(records.slice(300));
    const reading = store.readRun('a')[Symbol.asyncIterator]();
    const readRecords: TrajectoryRecord[] = [];
    readRecords.push((await reading.next()).value as TrajectoryRecord);
    await store.deleteRun('a');
    let code: unknown;
    try {
      for (let next = await reading.next(); next.done !== true; next = await reading.next())
        readRecords.push(next.value);
    } catch (thrown) {
      code = thrown instanceof CoxswainError ? thrown.code : thrown;
    }
    expect([undefined, 'store-io']).toContain(code);
    expect(readRecords).toEqual(records.slice(0, readRecords.length));
  });

  test('a deleted run stays deleted after reopening, and its id is free', async ({ store, reopen }, skip) => {
    if (reopen === undefined) return skip('a store in memory ends with its process');
    await store.append(scriptCalls('a', 3));
    await store.append(scriptCalls('b', 3));
    await store.deleteRun('a');
    const reopened = await reopen();
    expect((await listAll(reopened)).map((run) => run.runId)).toEqual(['b']);
    expect(await readAll(reopened, 'a')).toEqual([]);
    expect(await reopened.append(scriptCalls('a', 1))).toBe(0);
    expect(await reopened.deleteRun('b')).toBe(true);
    expect(await Array.fromAsync(reopened.verify())).toEqual([]);
  });

  test('the size is the sum of the runs, grows with appends and falls with deletions', async ({ store }) => {
    const empty = await store.sizeOf();
    expect(empty).toBeGreaterThanOrEqual(0);
    // The larger run has fewer records.
    await store.append(longRecords('large', 200));
    await store.append(scriptCalls('small', 400));
    const fullSize = await store.sizeOf();
    expect(fullSize).toBeGreaterThan(empty + 400_000);
    const sizes = await sizesOf(store);
    const [large = 0, small = 0] = [sizes.get('large'), sizes.get('small')];
    expect(large).toBeGreaterThan(3 * small);
    expect(small).toBeGreaterThan(20_000);
    expect(large + small).toBeGreaterThan(0.7 * fullSize);
    expect(large + small).toBeLessThanOrEqual(fullSize + 2);

    await store.deleteRun('large');

    const sizeAfterDelete = await store.sizeOf();
    expect(sizeAfterDelete).toBeLessThan(fullSize - large / 2);
    expect(sizeAfterDelete).toBeGreaterThan(20_000);
    expect([...(await sizesOf(store)).keys()]).toEqual(['small']);
    expect((await store.listRuns()).bytes).toBeUndefined();
  });

  test('a closed store refuses deletions and size requests', async ({ store }) => {
    await store.append(scriptCalls('a', 1));
    await store.close();
    await expect(store.deleteRun('a')).rejects.toMatchObject({ code: 'store-closed' });
    await expect(store.deleteRun('\ud800')).rejects.toMatchObject({ code: 'store-closed' });
    await expect(store.sizeOf()).rejects.toMatchObject({ code: 'store-closed' });
  });
}

/** Creates records of about 2 KB each. */
function longRecords(runId: string, count: number): readonly TrajectoryRecord[] {
  return Array.from({ length: count }, (_, seq) =>
    scriptRecord({ runId, seq, payload: { kind: 'compaction', trigger: `${runId} ${seq} `.repeat(250) } }),
  );
}

/** Returns the positions of the records with the word `call`, newest first. All records of `scriptCalls` contain this word. */
async function hitsOf(store: TrajectoryStore): Promise<readonly string[]> {
  for (;;) {
    const { hits, notIndexed } = await store.search({ text: 'call', limit: 1000 });
    if (notIndexed === 0) return hits.map(({ runId, seq }) => `${runId}/${seq}`);
  }
}

/** Returns the next `seq`, the `seq` covered by the snapshot, and the snapshot. */
async function snapshotOf(store: TrajectoryStore, runId: string): Promise<readonly unknown[]> {
  return store.transact(runId, ({ nextSeq, snapshotSeq, snapshot }) => ({
    records: [],
    result: [nextSeq, snapshotSeq, snapshot],
  }));
}

async function sizesOf(store: TrajectoryStore): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  let cursor: string | undefined;
  do {
    const page = await store.listRuns({ limit: 1, withBytes: true, ...present({ after: cursor }) });
    if (page.bytes?.length !== page.runs.length) throw new Error('a page has as many sizes as runs');
    for (const [index, { runId }] of page.runs.entries()) sizes.set(runId, page.bytes?.[index] ?? Number.NaN);
    cursor = page.next;
  } while (cursor !== undefined);
  return sizes;
}
