import { present } from '../base/present.ts';
import { CoxswainError } from '../base/error.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import type { TrajectoryStore } from '../store/trajectory-store.ts';
import type { StoreContractCase } from './contract-store.ts';
import { listAll, readAll } from './read-all.ts';
import { scriptCalls, scriptRecord } from './record-script.ts';

/** Tests what `deleteRun` deletes and preserves, and what `sizeOf` returns. */
export function deleteContract({ test, expect }: StoreContractCase): void {
  test('a deleted run is gone from everything, and the others are as they were', async ({ store }) => {
    await store.append(scriptCalls('a', 7));
    await store.transact('a', () => ({ records: scriptCalls('a', 1, 7), snapshot: { at: 7 }, result: 0 }));
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

  test('a run that is not there, or cannot be, is deleted without an error', async ({ store }) => {
    for (const runId of ['a', '', '\ud800', 'x'.repeat(1025)]) expect(await store.deleteRun(runId)).toBe(false);
    await store.append(scriptCalls('a', 2));
    expect(await store.deleteRun('b')).toBe(false);
    expect(await readAll(store, 'a')).toHaveLength(2);
  });

  test('of a run of which only a snapshot is saved the snapshot goes', async ({ store }) => {
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
    const again = [0, 1, 2].map((seq) => scriptRecord({ runId: 'a', seq, atMs: 9000 + seq }));
    expect(await store.append(again)).toBe(2);
    expect(await readAll(store, 'a')).toEqual(again);
    expect(await hitsOf(store)).toEqual([]);
    expect(await store.findRun('a')).toMatchObject({ records: 3, startedAtMs: 9000, calls: 0, turns: 3 });
    expect(await Array.fromAsync(store.verify())).toEqual([]);
    await store.deleteRun('a');
    const found = [scriptRecord({ runId: 'a', seq: 0, payload: { kind: 'compaction', trigger: 'a new call' } })];
    await store.transact('a', () => ({ records: found, snapshot: 'new', result: 0 }));
    expect(await hitsOf(store)).toEqual(['a/0']);
    expect(await snapshotOf(store, 'a')).toEqual([1, 0, 'new']);
  });

  test('calls for one run that are not awaited are taken in their order', async ({ store }) => {
    const first = store.append(scriptCalls('a', 4));
    const second = store.deleteRun('a');
    const third = store.append(scriptCalls('a', 2));
    const fourth = store.transact('a', (view) => ({ records: [], result: view.nextSeq }));
    expect(await Promise.all([first, second, third, fourth])).toEqual([3, true, 1, 2]);
    expect(await readAll(store, 'a')).toEqual(scriptCalls('a', 2));
    const both = await Promise.all([store.deleteRun('a'), store.deleteRun('a'), store.deleteRun('a')]);
    expect(both.filter((one) => one)).toEqual([true]);
  });

  test('hostile run ids are deleted like any other, and none takes another with it', async ({ store }) => {
    const ids = ['', '..', '../x', 'a/b', 'nul\0byte', 'nul', 'x'.repeat(300), 'X'.repeat(300), '😀', 'é', '%', '_'];
    for (const runId of ids) await store.append(scriptCalls(runId, 2));
    for (let index = 0; index < ids.length; index += 2) expect(await store.deleteRun(ids[index] ?? '')).toBe(true);
    const left = ids.filter((_, index) => index % 2 === 1);
    expect(new Set((await listAll(store)).map((run) => run.runId))).toEqual(new Set(left));
    for (const runId of left) expect(await readAll(store, runId)).toEqual(scriptCalls(runId, 2));
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

  test('reading a run that is deleted meanwhile ends early or is store-io', async ({ store }) => {
    const before = longRecords('a', 600);
    await store.append(before.slice(0, 300));
    await store.append(before.slice(300));
    const reading = store.readRun('a')[Symbol.asyncIterator]();
    const seen: TrajectoryRecord[] = [];
    seen.push((await reading.next()).value as TrajectoryRecord);
    await store.deleteRun('a');
    let code: unknown;
    try {
      for (let next = await reading.next(); next.done !== true; next = await reading.next()) seen.push(next.value);
    } catch (thrown) {
      code = thrown instanceof CoxswainError ? thrown.code : thrown;
    }
    expect([undefined, 'store-io']).toContain(code);
    expect(seen).toEqual(before.slice(0, seen.length));
  });

  test('a deleted run is still gone after reopening, and its id free', async ({ store, reopen }, skip) => {
    if (reopen === undefined) return skip('a store in memory ends with its process');
    await store.append(scriptCalls('a', 3));
    await store.append(scriptCalls('b', 3));
    await store.deleteRun('a');
    const again = await reopen();
    expect((await listAll(again)).map((run) => run.runId)).toEqual(['b']);
    expect(await readAll(again, 'a')).toEqual([]);
    expect(await again.append(scriptCalls('a', 1))).toBe(0);
    expect(await again.deleteRun('b')).toBe(true);
    expect(await Array.fromAsync(again.verify())).toEqual([]);
  });

  test('the size grows with what is stored, is the sum of the runs, and falls by what is deleted', async ({
    store,
  }) => {
    const empty = await store.sizeOf();
    expect(empty).toBeGreaterThanOrEqual(0);
    // The larger run has fewer records.
    await store.append(longRecords('large', 200));
    await store.append(scriptCalls('small', 400));
    const full = await store.sizeOf();
    expect(full).toBeGreaterThan(empty + 400_000);
    const sizes = await sizesOf(store);
    const [large = 0, small = 0] = [sizes.get('large'), sizes.get('small')];
    expect(large).toBeGreaterThan(3 * small);
    expect(small).toBeGreaterThan(20_000);
    expect(large + small).toBeGreaterThan(0.7 * full);
    expect(large + small).toBeLessThanOrEqual(full + 2);

    await store.deleteRun('large');

    const left = await store.sizeOf();
    expect(left).toBeLessThan(full - large / 2);
    expect(left).toBeGreaterThan(20_000);
    expect([...(await sizesOf(store)).keys()]).toEqual(['small']);
    expect((await store.listRuns()).bytes).toBeUndefined();
  });

  test('a closed store refuses to delete and to tell its size', async ({ store }) => {
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
  let after: string | undefined;
  do {
    const page = await store.listRuns({ limit: 1, withBytes: true, ...present({ after }) });
    if (page.bytes?.length !== page.runs.length) throw new Error('a page has as many sizes as runs');
    for (const [index, { runId }] of page.runs.entries()) sizes.set(runId, page.bytes?.[index] ?? Number.NaN);
    after = page.next;
  } while (after !== undefined);
  return sizes;
}
