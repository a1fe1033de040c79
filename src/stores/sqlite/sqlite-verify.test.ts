import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';

import { scriptCalls, scriptRecord } from '../../../test/support/script-records.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { sqliteStore } from './sqlite-store.ts';
import type { StoreProblem } from '../../core/store/trajectory-store.ts';

/** The problems of two runs of five records, one with a gap and one with a snapshot, after the SQL. */
async function verifyAfter(sql: string): Promise<readonly StoreProblem[]> {
  const folder = testFolder();
  const file = join(folder, 'runs.db');
  const store = sqliteStore(file);
  await store.append(scriptCalls('a', 5));
  await store.append([scriptRecord({ runId: 'a', seq: 5, payload: { kind: 'gap', through_seq: 8, reason: 'lost' } })]);
  await store.append(scriptCalls('a', 1, 9));
  await store.transact('b', () => ({ records: scriptCalls('b', 5), snapshot: { at: 4 }, result: undefined }));
  await store.append([scriptRecord({ runId: '', seq: 0 })]);
  await store.close();
  const raw = new DatabaseSync(file);
  raw.enableDefensive(false);
  raw.exec(`PRAGMA writable_schema = ON; ${sql}`);
  raw.close();
  const again = sqliteStore(file);
  const problems = await Array.fromAsync(again.verify());
  await again.close();
  return problems;
}

test('an intact store has no problems', async () => {
  expect(await verifyAfter('')).toEqual([]);
});

test('a missing record is reported with its run and place', async () => {
  expect(await verifyAfter("DELETE FROM records WHERE run_id = 'b' AND seq = 2")).toEqual([
    {
      runId: 'b',
      seq: 2,
      place: expect.stringContaining('records, id'),
      problem: 'seq 2 is missing',
    },
  ]);
  expect(await verifyAfter("DELETE FROM records WHERE run_id = 'a' AND seq = 5")).toMatchObject([
    { runId: 'a', seq: 5, problem: 'seq 5 to 8 are missing' },
  ]);
});

test('records missing at the end contradict the summary and the snapshot', async () => {
  expect(await verifyAfter("DELETE FROM records WHERE run_id = 'a' AND seq = 9")).toMatchObject([
    { runId: 'a', place: 'table runs', problem: expect.stringContaining('summary') },
  ]);
  const all = await verifyAfter("DELETE FROM records WHERE run_id = 'b'; DELETE FROM runs WHERE run_id = 'b'");
  expect(all).toMatchObject([
    { runId: 'b', place: 'table snapshots', problem: expect.stringContaining('covers seq 4') },
  ]);
});

test.each([
  ["UPDATE records SET json = substr(json, 1, 40) WHERE run_id = 'a' AND seq = 3", 'checksum'],
  [`UPDATE records SET json = replace(json, 'call-3', 'call-4') WHERE run_id = 'a' AND seq = 3`, 'checksum'],
  ["UPDATE records SET checksum = checksum + 1 WHERE run_id = 'a' AND seq = 3", 'checksum'],
  ["UPDATE records SET checksum = NULL WHERE run_id = 'a' AND seq = 3", 'checksum'],
])('a damaged record is reported and does not hide the rest: %s', async (sql, problem) => {
  expect(await verifyAfter(sql)).toEqual([
    { runId: 'a', seq: 3, place: expect.any(String), problem: expect.stringContaining(problem) },
  ]);
});

test.each([
  ["records SET checksum = 3554722174258746825 WHERE run_id = 'a' AND seq = 3", 'its checksum is wrong'],
  ["runs SET checksum = 3554722174258746825 WHERE run_id = 'a'", 'its summary: its checksum is wrong'],
  ["snapshots SET checksum = -9223372036854775808 WHERE run_id = 'b'", 'its snapshot: its checksum is wrong'],
  ["snapshots SET covers_seq = 3554722174258746825 WHERE run_id = 'b'", 'its snapshot: its checksum is wrong'],
])('an integer that JavaScript cannot represent is damage of its row: %s', async (sql, problem) => {
  expect(await verifyAfter(`UPDATE ${sql}`)).toMatchObject([{ problem }]);
});

test('a record whose seq JavaScript cannot represent is damaged, and only its own place is missing', async () => {
  expect(await verifyAfter("UPDATE records SET seq = 3554722174258746825 WHERE run_id = 'a' AND seq = 3")).toEqual([
    { runId: 'a', seq: 3, place: expect.any(String), problem: 'seq 3 is missing' },
    { runId: 'a', place: expect.stringContaining('records, id'), problem: 'its seq is damaged' },
  ]);
});

test('two swapped records are damaged, each under its own seq', async () => {
  const swap =
    "UPDATE records SET seq = 99 WHERE run_id = 'a' AND seq = 2; UPDATE records SET seq = 2 WHERE run_id = 'a' AND seq = 3; " +
    "UPDATE records SET seq = 3 WHERE run_id = 'a' AND seq = 99";
  const problems = await verifyAfter(swap);
  expect(problems.map(({ runId, seq }) => [runId, seq])).toEqual([
    ['a', 2],
    ['a', 3],
  ]);
});

test.each([
  [`UPDATE runs SET summary = replace(summary, '"calls":6', '"calls":7') WHERE run_id = 'a'`, 'checksum'],
  ["UPDATE runs SET summary = '{' WHERE run_id = 'a'", 'checksum'],
  ["UPDATE runs SET minus_started_ms = -7 WHERE run_id = 'a'", 'start time differs'],
  ["DELETE FROM runs WHERE run_id = 'a'", 'no summary'],
  ["DELETE FROM records WHERE run_id = 'a'", 'without records'],
])('a wrong summary is reported: %s', async (sql, problem) => {
  expect(await verifyAfter(sql)).toEqual([
    { runId: 'a', place: 'table runs', problem: expect.stringContaining(problem) },
  ]);
});

test.each([
  ['UPDATE snapshots SET covers_seq = 99', 'checksum'],
  ["UPDATE snapshots SET json = '{'", 'checksum'],
])('a wrong snapshot is reported: %s', async (sql, problem) => {
  expect(await verifyAfter(sql)).toMatchObject([
    { runId: 'b', place: 'table snapshots', problem: expect.stringContaining(problem) },
  ]);
});

test.each([
  ["INSERT INTO removed_runs VALUES ('a')", 'removed_runs'],
  ['UPDATE indexing SET through_id = 999', 'indexing'],
  ['DELETE FROM indexing', 'indexing'],
])('lists that hide records are reported: %s', async (sql, place) => {
  const problems = await verifyAfter(sql);
  expect(problems.map((problem) => problem.place)).toContain(`table ${place}`);
});

test('problems found by SQLite are reported', async () => {
  const sql =
    "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'runs') WHERE name = 'runs_newest_first'";
  const problems = await verifyAfter(sql);
  expect(problems[0]).toMatchObject({ place: 'database' });
});
