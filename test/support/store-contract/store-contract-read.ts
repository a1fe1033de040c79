import { decodeRecord, parseRecord, encodeRecord } from '../../../src/core/records/decode-record.ts';
import type { TrajectoryPayload } from '../../../src/core/records/trajectory-record.ts';
import { readAll, scriptCalls, scriptRecord, scriptRun } from '../script-records.ts';
import type { StoreContractCase } from './contract-store.ts';

/** Tests the results of `readRun`, and that records are preserved unchanged. */
export function readContract({ test, expect, payloadTexts }: StoreContractCase): void {
  test('an unknown run has no records and no summary', async ({ store }) => {
    expect(await readAll(store, 'a')).toEqual([]);
    expect(await store.findRun('a')).toBeUndefined();
  });

  test('fromSeq and limit choose a part of the run', async ({ store }) => {
    const records = scriptCalls('a', 10);
    await store.append(records);
    expect(await readAll(store, 'a', { fromSeq: 4 })).toEqual(records.slice(4));
    expect(await readAll(store, 'a', { limit: 3 })).toEqual(records.slice(0, 3));
    expect(await readAll(store, 'a', { fromSeq: 4, limit: 3 })).toEqual(records.slice(4, 7));
    expect(await readAll(store, 'a', { fromSeq: 10 })).toEqual([]);
    expect(await readAll(store, 'a', { limit: 0 })).toEqual([]);
  });

  test('a read query out of range is refused with invalid-argument', async ({ store }) => {
    await store.append(scriptCalls('a', 1));
    for (const query of [{ fromSeq: -1 }, { fromSeq: 0.5 }, { limit: -1 }, { limit: Number.NaN }]) {
      await expect(readAll(store, 'a', query)).rejects.toMatchObject({ code: 'invalid-argument' });
    }
  });

  test('reading is lazy: nothing happens before the first next, and a reader may stop early', async ({ store }) => {
    const reading = store.readRun('a')[Symbol.asyncIterator]();
    await store.append(scriptCalls('a', 300));
    expect((await reading.next()).value).toEqual(scriptCalls('a', 1)[0]);
    expect(await reading.return?.()).toMatchObject({ done: true });
    for await (const record of store.readRun('a')) if (record.seq === 5) break;
    expect(await store.append(scriptCalls('a', 1, 300))).toBe(300);
  });

  test('two readers of one run do not disturb each other, nor does a writer', async ({ store }) => {
    const records = scriptCalls('a', 40);
    await store.append(records);
    const iterator = store.readRun('a')[Symbol.asyncIterator]();
    const seqs: number[] = [];
    for await (const record of store.readRun('a')) {
      seqs.push(record.seq);
      expect((await iterator.next()).value).toEqual(record);
      if (record.seq < 5) await store.append(scriptCalls('b', 1, record.seq));
    }
    expect(seqs).toEqual(records.map(({ seq }) => seq));
  });

  test('payloads of unknown kinds and unknown fields are read back unchanged', async ({ store }) => {
    const payloads: readonly TrajectoryPayload[] = [
      {
        kind: 'unrecognised',
        original: { kind: 'from_the_future', deep: [{ a: null }, 1.5, 'x'], z: 1, b: { c: true } },
      },
      { kind: 'unrecognised', original: { kind: 'unrecognised', original: { kind: 'turn_started' } } },
      // A field added by a later minor version.
      { kind: 'compaction', trigger: 'auto', saved_tokens: 900 } as TrajectoryPayload,
    ];
    const records = scriptRun('a', payloads);
    await store.append(records);
    expect(await readAll(store, 'a')).toEqual(records);
    expect(await store.append(records)).toBe(2);
  });

  test('a payload of an unknown kind keeps its text byte for byte, and appending it again is a repeat', async ({
    store,
    reopen,
  }) => {
    const texts = [
      ...payloadTexts,
      '{"kind":"new","n":[1.0,12345678901234567890,1e3,-0]}',
      '{ "z":1,\t"a":"\\u0041\\/" ,"a":2, "kind":"new"}',
    ];
    const lines = texts.map(
      (text, seq) =>
        `{"schema_version":1,"seq":${seq},"run_id":"a","depth":0,"recorded_at_unix_ms":1,"payload":${text}}`,
    );
    await store.append(lines.map(parseRecord));
    expect((await readAll(store, 'a')).map(encodeRecord)).toEqual(lines);
    expect(await store.append(lines.map(parseRecord))).toBe(lines.length - 1);
    await store.transact('a', (view) => {
      expect(view.missed().map(encodeRecord)).toEqual(lines);
      return { records: [], result: 0 };
    });
    // A different JSON formatting of the same values is the same record.
    expect(await store.append([decodeRecord(JSON.parse(lines[0] ?? ''))])).toBe(lines.length - 1);
    const reopened = reopen === undefined ? store : await reopen();
    expect((await readAll(reopened, 'a')).map(encodeRecord)).toEqual(lines);
  });

  test('a record of 5 MB among small ones survives', async ({ store }) => {
    const [before, after] = [scriptCalls('a', 2), scriptCalls('a', 2, 3)];
    const result = 'ö0123456789'.repeat(450_000);
    const payload: TrajectoryPayload = {
      kind: 'tool_ended',
      tool_call_id: '1',
      tool_name: 'read',
      result,
      is_error: false,
    };
    const records = [...before, scriptRecord({ runId: 'a', seq: 2, payload }), ...after];
    await store.append(records);
    const storedRecords = await readAll(store, 'a');
    expect(storedRecords.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4]);
    expect(storedRecords[2]?.payload).toEqual(payload);
    expect(await store.append(records)).toBe(4);
  });

  test('every character survives: lone surrogates, NUL, line separators, a BOM', async ({ store }) => {
    const texts = [
      '\ud800',
      'a\udc00b',
      '\ud83d\ude00',
      '\0',
      '\u2028\u2029',
      '\ufeff',
      '\r\n',
      '\u007f',
      'ÿ',
      '\uffff',
      '"\\',
    ];
    const payloads = [...texts, texts.join('|')].map((text): TrajectoryPayload => ({
      kind: 'tool_started',
      tool_call_id: text,
      tool_name: text,
      args: { [text]: text },
    }));
    const task = `\udfff${texts.join('')}`;
    const started: TrajectoryPayload = { kind: 'run_started', identity: { run_id: 'a', depth: 0 }, task };
    const records = scriptRun('a', [started, ...payloads]);
    await store.append(records);
    expect(await readAll(store, 'a')).toEqual(records);
    expect((await store.findRun('a'))?.task).toBe(task);
    expect(await store.append(records)).toBe(records.length - 1);
  });

  test('numbers survive, and times may be fractions', async ({ store }) => {
    const args = [0, -1, 1.5, 1e300, 5e-324, Number.MAX_SAFE_INTEGER, 0.1 + 0.2];
    const payload: TrajectoryPayload = { kind: 'tool_started', tool_call_id: '1', tool_name: 'x', args };
    const record = scriptRecord({ runId: 'a', seq: 0, atMs: 1_700_000_000_000.25, payload });
    await store.append([record]);
    expect(await readAll(store, 'a')).toEqual([record]);
    expect((await store.findRun('a'))?.startedAtMs).toBe(1_700_000_000_000.25);
  });

  test('stored records survive reopening, and the run continues', async ({ store, reopen }, skip) => {
    if (reopen === undefined) return skip('a store in memory ends with its process');
    const records = scriptCalls('a', 4);
    await store.append(records.slice(0, 2));
    const summary = await store.findRun('a');
    const reopened = await reopen();
    expect(await reopened.findRun('a')).toEqual(summary);
    expect(await readAll(reopened, 'a')).toEqual(records.slice(0, 2));
    expect(await reopened.append(records.slice(1))).toBe(3);
    expect(await readAll(await reopen(), 'a')).toEqual(records);
  });
}
