import type { CoxswainErrorCode } from '../../../src/core/base/error.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../../src/core/records/trajectory-record.ts';
import type { TrajectoryStore } from '../../../src/core/store/trajectory-store.ts';
import { listAll, readAll, scriptCalls, scriptRecord } from '../script-records.ts';
import type { StoreContractCase } from './contract-store.ts';

/** Tests which records `append` accepts and rejects, and what it returns. */
export function appendContract({ test, expect }: StoreContractCase): void {
  const expectRefusal = async (
    store: TrajectoryStore,
    batch: readonly TrajectoryRecord[],
    code: CoxswainErrorCode,
  ): Promise<void> => {
    await expect(store.append(batch)).rejects.toMatchObject({ name: 'CoxswainError', code });
  };

  test('records are read in order, and append returns the last seq', async ({ store }) => {
    const records = scriptCalls('a', 7);
    expect(await store.append(records.slice(0, 3))).toBe(2);
    expect(await store.append(records.slice(3))).toBe(6);
    await store.flush();
    expect(await readAll(store, 'a')).toEqual(records);
  });

  test('a batch of 500 records is stored, and one of 501 is refused', async ({ store }) => {
    const records = scriptCalls('a', 501);
    await expectRefusal(store, records, 'invalid-argument');
    expect(await store.append(records.slice(0, 500))).toBe(499);
  });

  test('repeating a batch changes nothing and returns the last stored seq', async ({ store }) => {
    const records = scriptCalls('a', 5);
    await store.append(records);
    const summary = await store.findRun('a');
    expect(await store.append(records)).toBe(4);
    expect(await store.append(records.slice(1, 3))).toBe(4);
    expect(await readAll(store, 'a')).toEqual(records);
    expect(await store.findRun('a')).toEqual(summary);
  });

  test('a repeated record is recognised by its values, not by the order of its keys', async ({ store }) => {
    const [record] = scriptCalls('a', 1);
    if (record === undefined) throw new Error('one record was asked for');
    await store.append([record]);
    const reversedKeys = Object.fromEntries(Object.entries(record).reverse()) as unknown as TrajectoryRecord;
    expect(await store.append([reversedKeys])).toBe(0);
  });

  test('a batch that overlaps stored records appends only the new ones', async ({ store }) => {
    const records = scriptCalls('a', 6);
    await store.append(records.slice(0, 4));
    expect(await store.append(records.slice(2))).toBe(5);
    expect(await readAll(store, 'a')).toEqual(records);
    expect((await store.findRun('a'))?.calls).toBe(6);
  });

  test('a batch that would leave a gap is refused with store-gap and writes nothing', async ({ store }) => {
    await expectRefusal(store, scriptCalls('a', 2, 1), 'store-gap');
    expect(await store.findRun('a')).toBeUndefined();
    await store.append(scriptCalls('a', 2));
    await expectRefusal(store, scriptCalls('a', 1, 3), 'store-gap');
    expect(await readAll(store, 'a')).toEqual(scriptCalls('a', 2));
  });

  test('a different record under a stored seq is refused with store-conflict and writes nothing', async ({ store }) => {
    const records = scriptCalls('a', 3);
    await store.append(records);
    const otherRecords = [...scriptCalls('a', 2, 1), scriptRecord({ runId: 'a', seq: 3 })];
    const changedRecords = otherRecords.map((record) =>
      record.seq === 2 ? scriptRecord({ runId: 'a', seq: 2 }) : record,
    );
    await expectRefusal(store, changedRecords, 'store-conflict');
    expect(await readAll(store, 'a')).toEqual(records);
    expect(await store.append(otherRecords)).toBe(3);
  });

  test('empty, mixed, incomplete and unordered batches are refused with invalid-argument and write nothing', async ({
    store,
  }) => {
    const [first, second, third] = scriptCalls('a', 3);
    if (first === undefined || second === undefined || third === undefined) throw new Error('three were asked for');
    await expectRefusal(store, [], 'invalid-argument');
    await expectRefusal(store, [first, scriptRecord({ runId: 'b', seq: 1 })], 'invalid-argument');
    await expectRefusal(store, [first, third], 'invalid-argument');
    await expectRefusal(store, [first, first], 'invalid-argument');
    await expectRefusal(store, [second, first], 'invalid-argument');
    expect((await store.listRuns()).runs).toEqual([]);
  });

  test('a missing, ill-formed or too long run_id is refused with invalid-argument', async ({ store }) => {
    const { run_id: _, ...withoutRunId } = scriptRecord({ runId: 'a', seq: 0 });
    await expectRefusal(store, [withoutRunId], 'invalid-argument');
    await expectRefusal(store, [scriptRecord({ runId: 'a\ud800', seq: 0 })], 'invalid-argument');
    await expectRefusal(store, [scriptRecord({ runId: 'a'.repeat(1025), seq: 0 })], 'invalid-argument');
    expect(await store.findRun('a\ud800')).toBeUndefined();
    expect(await readAll(store, 'a\ud800')).toEqual([]);
  });

  test('a record that could not be read back is refused before anything is written', async ({ store }) => {
    const validRecord = scriptRecord({ runId: 'a', seq: 0 });
    const nextIs = (payload: unknown): readonly TrajectoryRecord[] => [
      validRecord,
      scriptRecord({ runId: 'a', seq: 1, payload: payload as TrajectoryPayload }),
    ];
    await expectRefusal(store, nextIs({ kind: 'tool_started', tool_call_id: 'x', args: {} }), 'invalid-record');
    await expectRefusal(
      store,
      nextIs({ kind: 'tool_started', tool_call_id: 'x', tool_name: 'y', args: 1n }),
      'invalid-record',
    );
    await expectRefusal(store, nextIs({ kind: 'unrecognised', original: { no: 'kind' } }), 'invalid-record');
    await expectRefusal(store, [{ ...validRecord, recorded_at_unix_ms: Number.NaN }], 'invalid-record');
    await expectRefusal(store, [{ ...validRecord, seq: 0.5 }], 'invalid-record');
    await expectRefusal(store, [{ ...validRecord, schema_version: 2 }], 'schema-version');
    expect(await store.findRun('a')).toBeUndefined();
  });

  test('a gap record fills the seqs up to through_seq', async ({ store }) => {
    const gap = scriptRecord({ runId: 'a', seq: 2, payload: { kind: 'gap', through_seq: 9, reason: 'queue full' } });
    const records = [...scriptCalls('a', 2), gap, ...scriptCalls('a', 2, 10)];
    expect(await store.append(records.slice(0, 3))).toBe(9);
    await expectRefusal(store, scriptCalls('a', 1, 5), 'store-conflict');
    await expectRefusal(store, scriptCalls('a', 1, 11), 'store-gap');
    expect(await store.append(records.slice(2))).toBe(11);
    expect(await readAll(store, 'a')).toEqual(records);
    expect(await store.findRun('a')).toMatchObject({ records: 5, lastSeq: 11, calls: 4 });
    expect(await readAll(store, 'a', { fromSeq: 5 })).toEqual(records.slice(3));
  });

  test('runs written alternately stay separate', async ({ store }) => {
    const runs = ['a', 'b', 'c'].map((id) => scriptCalls(id, 6));
    for (let seq = 0; seq < 6; seq += 2) {
      await Promise.all(runs.map((records) => store.append(records.slice(seq, seq + 2))));
    }
    for (const records of runs) expect(await readAll(store, records[0]?.run_id ?? '')).toEqual(records);
  });

  test('appends to one run that are not awaited are stored in the order of the calls', async ({ store }) => {
    const records = scriptCalls('a', 20);
    expect(await Promise.all(records.map((record) => store.append([record])))).toEqual(records.map(({ seq }) => seq));
    expect(await readAll(store, 'a')).toEqual(records);
  });

  test('changing a record after it was appended does not change the store', async ({ store }) => {
    const args = { path: 'a.txt' };
    const payload: TrajectoryPayload = { kind: 'tool_started', tool_call_id: '1', tool_name: 'read', args };
    await store.append([scriptRecord({ runId: 'a', seq: 0, payload })]);
    args.path = 'b.txt';
    expect((await readAll(store, 'a'))[0]?.payload).toMatchObject({ args: { path: 'a.txt' } });
  });

  test('hostile run ids are stored and read like any other id', async ({ store }) => {
    for (const [index, runId] of HOSTILE_IDS.entries()) {
      const records = scriptCalls(runId, 1 + (index % 3));
      await store.append(records);
    }
    for (const [index, runId] of HOSTILE_IDS.entries()) {
      expect(await readAll(store, runId)).toEqual(scriptCalls(runId, 1 + (index % 3)));
      expect((await store.findRun(runId))?.runId).toBe(runId);
    }
    const listedIds = (await listAll(store, 4)).map((run) => run.runId);
    expect(new Set(listedIds)).toEqual(new Set(HOSTILE_IDS));
    expect(listedIds).toHaveLength(HOSTILE_IDS.length);
  });

  test('a closed store refuses every call, and closing again does nothing', async ({ store }) => {
    await store.append(scriptCalls('a', 2));
    const reading = store.readRun('a')[Symbol.asyncIterator]();
    await reading.next();
    await store.close();
    await store.close();
    const closedError = { code: 'store-closed' };
    await expectRefusal(store, scriptCalls('a', 1, 2), 'store-closed');
    await expect(store.flush()).rejects.toMatchObject(closedError);
    await expect(store.listRuns()).rejects.toMatchObject(closedError);
    await expect(store.findRun('a')).rejects.toMatchObject(closedError);
    await expect(readAll(store, 'a')).rejects.toMatchObject(closedError);
    await expect(reading.next()).rejects.toMatchObject(closedError);
  });
}

const HOSTILE_IDS: readonly string[] = [
  '',
  '.',
  '..',
  '../x',
  '..\\x',
  '/etc/passwd',
  'a/b',
  'a%2fb',
  'CON',
  'con',
  'nul.txt',
  'x'.repeat(300),
  'X'.repeat(300),
  `${'x'.repeat(299)}y`,
  '😀'.repeat(300),
  'nul\0byte',
  'nul',
  '😀',
  '\uffff',
  'é',
  'e\u0301',
  '__proto__',
  "'; DROP TABLE runs; --",
  'trailing. ',
  'line\nbreak',
];
