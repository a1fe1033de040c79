import { expect, test } from 'vitest';

import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { memoryStore } from '../../core/store/memory-store.ts';
import { readAll } from '../../../test/support/script-records.ts';
import { RunRecorder, type RefusedRun } from './run-recorder.ts';

function record(runId: string, seq: number, text = ''): TrajectoryRecord {
  return {
    schema_version: 1,
    seq,
    run_id: runId,
    depth: 0,
    recorded_at_unix_ms: 0,
    payload: { kind: 'message_appended', message: { role: 'user', content: text } },
  };
}

const noRefusal = ({ error }: RefusedRun): never => {
  throw error;
};

test('interleaved runs of any length are stored completely and in order', async () => {
  const store = memoryStore();
  const recorder = new RunRecorder(store, noRefusal);
  for (let seq = 0; seq < 1300; seq += 1) for (const id of ['a', 'b']) await recorder.add(id, record(id, seq));
  for (const id of ['a', 'b']) await recorder.end(id);
  for (const id of ['a', 'b']) {
    const stored = await readAll(store, id);
    expect(stored.map(({ seq }) => seq)).toEqual(Array.from({ length: 1300 }, (_, seq) => seq));
  }
});

test('large records are written early', async () => {
  const store = memoryStore();
  const recorder = new RunRecorder(store, noRefusal);
  for (let seq = 0; seq < 6; seq += 1) await recorder.add('a', record('a', seq, 'x'.repeat(1_000_000)));
  expect((await store.findRun('a'))?.records).toBe(5);
  await recorder.end('a');
  expect((await store.findRun('a'))?.records).toBe(6);
});

test('a refused run is reported once and skipped, and the others are recorded', async () => {
  const store = memoryStore();
  await store.append([record('a', 0, 'another')]);
  const refused: string[] = [];
  const recorder = new RunRecorder(store, ({ runId, error }) => refused.push(`${runId} ${error.code}`));
  for (let seq = 0; seq < 1200; seq += 1) for (const id of ['a', 'b']) await recorder.add(id, record(id, seq));
  for (const id of ['a', 'b']) await recorder.end(id);
  expect(refused).toEqual(['a store-conflict']);
  expect((await store.findRun('a'))?.records).toBe(1);
  expect((await store.findRun('b'))?.records).toBe(1200);
});

test('a failing store stops the recording', async () => {
  const store = memoryStore();
  await store.close();
  const recorder = new RunRecorder(store, noRefusal);
  await recorder.add('a', record('a', 0));
  await expect(recorder.end('a')).rejects.toMatchObject({ code: 'store-closed' });
});

test('a secret in an imported run is redacted before it is stored', async () => {
  const store = memoryStore();
  const recorder = new RunRecorder(store, noRefusal);
  // Built here, so that no scanner reports this file as a leak.
  const secret = ['gh', 'p_', 'A1b2'.repeat(9)].join('');
  await recorder.add('a', record('a', 0, `token ${secret} here`));
  await recorder.end('a');
  const text = JSON.stringify(await readAll(store, 'a'));
  expect(text).not.toContain(secret);
  expect(text).toContain('[REDACTED:');
});
