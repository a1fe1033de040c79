import type { CoxswainErrorCode } from '../../../src/core/base/error.ts';
import type { RunChange, StoredRun, TrajectoryStore } from '../../../src/core/store/trajectory-store.ts';
import type { StoreContractCase } from './contract-store.ts';
import { listAll, readAll, scriptCalls, scriptRecord } from '../script-records.ts';

export function transactContract({ test, expect }: StoreContractCase): void {
  const expectRefusal = async (
    store: TrajectoryStore,
    change: RunChange<unknown>,
    code: CoxswainErrorCode,
  ): Promise<void> => {
    await expect(store.transact('a', () => change)).rejects.toMatchObject({ code });
  };

  test('a transaction on a new run has an empty view and stores records and a snapshot', async ({ store }) => {
    const records = scriptCalls('a', 3);
    const answer = await store.transact('a', (view) => {
      expect(view).toMatchObject({ summary: undefined, nextSeq: 0, snapshot: undefined, snapshotSeq: -1 });
      expect(view.missed()).toEqual([]);
      return { records, snapshot: { seen: 3 }, result: 'done' };
    });
    expect(answer).toBe('done');
    expect(await readAll(store, 'a')).toEqual(records);
    expect(await viewRun(store, 'a')).toEqual({ nextSeq: 3, snapshot: { seen: 3 }, snapshotSeq: 2, missed: [] });
    expect(await store.findRun('a')).toMatchObject({ records: 3, calls: 3, lastSeq: 2 });
  });

  test('the view has the summary, and missed yields the records that others appended after the snapshot', async ({
    store,
  }) => {
    await store.transact('a', () => ({ records: scriptCalls('a', 2), snapshot: 1, result: undefined }));
    await store.append(scriptCalls('a', 2, 2));
    await store.append([
      scriptRecord({ runId: 'a', seq: 4, payload: { kind: 'gap', through_seq: 6, reason: 'lost' } }),
    ]);
    await store.append(scriptCalls('other', 5));
    const summary = await store.findRun('a');
    await store.transact('a', (view) => {
      expect(view.summary).toEqual(summary);
      expect(view.nextSeq).toBe(7);
      expect(view.missed().map((record) => record.seq)).toEqual([2, 3, 4]);
      return { records: scriptCalls('a', 1, 7), result: undefined };
    });
    expect(await viewRun(store, 'a')).toEqual({ nextSeq: 8, snapshot: 1, snapshotSeq: 1, missed: [2, 3, 4, 7] });
    await store.transact('a', () => ({ records: [], snapshot: 2, result: undefined }));
    expect(await viewRun(store, 'a')).toEqual({ nextSeq: 8, snapshot: 2, snapshotSeq: 7, missed: [] });
  });

  test('a transaction without records returns its result and saves its snapshot, and no run is listed', async ({
    store,
  }) => {
    expect(await store.transact('a', () => ({ records: [], result: 5 }))).toBe(5);
    await store.transact('a', () => ({ records: [], snapshot: null, result: undefined }));
    expect(await store.findRun('a')).toBeUndefined();
    expect(await listAll(store)).toEqual([]);
    expect(await readAll(store, 'a')).toEqual([]);
    expect(await viewRun(store, 'a')).toEqual({ nextSeq: 0, snapshot: null, snapshotSeq: -1, missed: [] });
    await store.append(scriptCalls('a', 2));
    expect(await viewRun(store, 'a')).toEqual({ nextSeq: 2, snapshot: null, snapshotSeq: -1, missed: [0, 1] });
  });

  test('a snapshot is stored as JSON with any characters, and cannot be changed from outside', async ({ store }) => {
    const snapshot = { 'ключ "\\': ['\ud800', '\0', '\u2028', '😀', 0.1 + 0.2, 1e300, null, true, { deep: [[]] }] };
    const copy = structuredClone(snapshot);
    await store.transact('ä/../"\n', () => ({ records: [], snapshot: copy, result: undefined }));
    copy['ключ "\\'].length = 0;
    expect((await viewRun(store, 'ä/../"\n')).snapshot).toEqual(snapshot);
    const longText = 'ö0123456789'.repeat(200_000);
    await store.transact('long', () => ({ records: scriptCalls('long', 1), snapshot: longText, result: undefined }));
    expect((await viewRun(store, 'long')).snapshot).toBe(longText);
  });

  test('a fold that throws stores nothing, and the next transaction succeeds', async ({ store }) => {
    await store.transact('a', () => ({ records: scriptCalls('a', 1), snapshot: 'before', result: undefined }));
    const fault = new Error('the fold broke');
    const failedFold = store.transact('a', () => {
      throw fault;
    });
    await expect(failedFold).rejects.toBe(fault);
    expect(await viewRun(store, 'a')).toEqual({ nextSeq: 1, snapshot: 'before', snapshotSeq: 0, missed: [] });
    await store.transact('a', () => ({ records: scriptCalls('a', 1, 1), snapshot: 'after', result: undefined }));
    expect(await viewRun(store, 'a')).toEqual({ nextSeq: 2, snapshot: 'after', snapshotSeq: 1, missed: [] });
  });

  test('a transaction refuses the records that an append refuses, and the snapshot stays unchanged', async ({
    store,
  }) => {
    await store.transact('a', () => ({ records: scriptCalls('a', 2), snapshot: 'before', result: undefined }));
    const snapshot = 'after';
    const otherRecord = scriptRecord({ runId: 'a', seq: 1, payload: { kind: 'compaction', trigger: 'other' } });
    await expectRefusal(store, { records: scriptCalls('a', 1, 3), snapshot, result: 0 }, 'store-gap');
    await expectRefusal(store, { records: [otherRecord], snapshot, result: 0 }, 'store-conflict');
    await expectRefusal(store, { records: scriptCalls('b', 1), snapshot, result: 0 }, 'invalid-argument');
    await expectRefusal(store, { records: scriptCalls('a', 501, 2), snapshot, result: 0 }, 'invalid-argument');
    const newerRecord = { ...scriptRecord({ runId: 'a', seq: 2 }), schema_version: 99 };
    await expectRefusal(store, { records: [newerRecord], snapshot, result: 0 }, 'schema-version');
    const cycle: unknown[] = [];
    cycle.push(cycle);
    for (const invalidResult of [cycle, 1n, (): void => undefined]) {
      // JavaScript callers may pass any value.
      const change = { records: scriptCalls('a', 1, 2), snapshot: invalidResult, result: 0 } as unknown as RunChange<0>;
      await expectRefusal(store, change, 'invalid-argument');
    }
    const asyncFold = Promise.resolve({ records: [], result: 0 }) as unknown as RunChange<0>;
    await expectRefusal(store, asyncFold, 'invalid-argument');
    expect(await viewRun(store, 'a')).toEqual({ nextSeq: 2, snapshot: 'before', snapshotSeq: 1, missed: [] });
    expect(await store.findRun('b')).toBeUndefined();
  });

  test('an invalid run id is refused with invalid-argument before the fold is called', async ({ store }) => {
    for (const runId of ['\ud800', 'x'.repeat(1025)]) {
      const transaction = store.transact(runId, () => {
        throw new Error('called');
      });
      await expect(transaction).rejects.toMatchObject({ code: 'invalid-argument' });
    }
  });

  test('a transaction skips records that are already stored, like append', async ({ store }) => {
    await store.append(scriptCalls('a', 3));
    await store.transact('a', () => ({ records: scriptCalls('a', 3, 1), snapshot: 's', result: undefined }));
    expect(await readAll(store, 'a')).toEqual(scriptCalls('a', 4));
    expect(await viewRun(store, 'a')).toEqual({ nextSeq: 4, snapshot: 's', snapshotSeq: 3, missed: [] });
  });

  test('concurrent transactions and appends of one process run one after another', async ({ store }) => {
    const rounds = Array.from({ length: 30 }, (_, index) => index);
    const answers = await Promise.all(
      rounds.flatMap((round) => [
        store.transact('a', countOne),
        store.append(scriptCalls(`other-${round}`, 2)),
        store.transact(`other-${round % 3}`, (view) => ({ records: [], snapshot: view.nextSeq, result: 0 })),
      ]),
    );
    const changedSnapshots = answers.filter((_, index) => index % 3 === 0);
    expect(changedSnapshots.sort((left, right) => left - right)).toEqual(rounds.map((round) => round + 1));
    expect(await readAll(store, 'a')).toEqual(scriptCalls('a', 30));
    expect(await viewRun(store, 'a')).toMatchObject({ snapshot: 30, snapshotSeq: 29 });
    for (const round of rounds) expect(await readAll(store, `other-${round}`)).toHaveLength(2);
  });

  test('a snapshot survives reopening', async ({ store, reopen }, skip) => {
    if (reopen === undefined) return skip('a store in memory ends with its process');
    await store.transact('a', () => ({ records: scriptCalls('a', 2), snapshot: ['kept'], result: undefined }));
    await store.append(scriptCalls('a', 1, 2));
    const reopened = await reopen();
    expect(await viewRun(reopened, 'a')).toEqual({ nextSeq: 3, snapshot: ['kept'], snapshotSeq: 1, missed: [2] });
  });

  test('a closed store refuses transactions, searches and checks', async ({ store }) => {
    await store.close();
    const closedError = { code: 'store-closed' };
    await expect(store.transact('a', countOne)).rejects.toMatchObject(closedError);
    await expect(store.search({ text: 'a' })).rejects.toMatchObject(closedError);
    await expect(Array.fromAsync(store.verify())).rejects.toMatchObject(closedError);
  });

  test('verify reports no damage in an intact store, empty or not', async ({ store }) => {
    expect(await Array.fromAsync(store.verify())).toEqual([]);
    await store.append(scriptCalls('a', 40));
    await store.append([
      scriptRecord({ runId: 'a', seq: 40, payload: { kind: 'gap', through_seq: 49, reason: 'lost' } }),
    ]);
    await store.transact('a', () => ({ records: scriptCalls('a', 2, 50), snapshot: { at: 51 }, result: undefined }));
    await store.transact('only a snapshot', () => ({ records: [], snapshot: 1, result: undefined }));
    await store.append([scriptRecord({ runId: 'späť\n', seq: 0, atMs: 1.5 })]);
    expect(await Array.fromAsync(store.verify())).toEqual([]);
  });
}

/** Adds one record and increments a count, as a hook process does. */
function countOne(view: StoredRun): RunChange<number> {
  const count = Number(view.snapshot ?? 0) + 1;
  return { records: scriptCalls('a', 1, view.nextSeq), snapshot: count, result: count };
}

/** Returns the view that a transaction receives. */
async function viewRun(
  store: TrajectoryStore,
  runId: string,
): Promise<Pick<StoredRun, 'nextSeq' | 'snapshot' | 'snapshotSeq'> & { readonly missed: readonly number[] }> {
  return await store.transact(runId, (view) => {
    const { nextSeq, snapshot, snapshotSeq } = view;
    return { records: [], result: { nextSeq, snapshot, snapshotSeq, missed: view.missed().map(({ seq }) => seq) } };
  });
}
