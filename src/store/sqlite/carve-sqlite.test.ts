import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';

import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { scriptCalls, scriptRecord } from '../../testing/record-script.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { carveSqlite } from './carve-sqlite.ts';
import { sqliteStore } from './sqlite-store.ts';

const PAGE = 4096;
/** Three overflow pages. */
const LONG = scriptRecord({ runId: 'a', seq: 200, payload: { kind: 'compaction', trigger: 'long '.repeat(3000) } });
const RECORDS = [...scriptCalls('a', 200), LONG];

async function recordedFile(): Promise<string> {
  const folder = testFolder();
  const file = join(folder, 'runs.db');
  const store = sqliteStore(file);
  await store.append(RECORDS);
  await store.append(scriptCalls('b', 50));
  await store.close();
  return file;
}

function carved(file: string): Readonly<Record<string, readonly TrajectoryRecord[]>> {
  const store = carveSqlite(file);
  const runs = Object.fromEntries(store.runs.map((run) => [run.runId, [...run.records()]]));
  store.close();
  return runs;
}

test('every record of an intact store is found once, in order', async () => {
  const file = await recordedFile();
  expect(carved(file)).toEqual({ a: RECORDS, b: scriptCalls('b', 50) });
});

test('without the first page or the inner pages of the trees, all records are found', async () => {
  const file = await recordedFile();
  const whole = await readFile(file);
  await writeFile(file, Buffer.from(whole).fill(0, 0, PAGE));
  expect(carved(file)).toEqual({ a: RECORDS, b: scriptCalls('b', 50) });
  const bytes = Buffer.from(whole);
  const INSIDE = new Set([0x02, 0x05, 0x0a]);
  for (let at = PAGE; at < bytes.length; at += PAGE) if (INSIDE.has(bytes[at] ?? 0)) bytes.fill(0, at, at + PAGE);
  await writeFile(file, bytes);
  expect(carved(file)).toEqual({ a: RECORDS, b: scriptCalls('b', 50) });
});

test('records that exist only in the log are found', async () => {
  const file = await recordedFile();
  const store = sqliteStore(file);
  await store.append(scriptCalls('c', 30));
  const copy = `${file}-copy`;
  for (const end of ['', '-wal']) await copyFile(`${file}${end}`, `${copy}${end}`);
  await store.close();
  expect(carved(copy)['c']).toEqual(scriptCalls('c', 30));
});

test('a deleted run is not found', async () => {
  const file = await recordedFile();
  const store = sqliteStore(file);
  await store.deleteRun('a');
  await store.close();
  expect(carved(file)).toEqual({ b: scriptCalls('b', 50) });
});

test('a record with a wrong checksum is left out and reported', async () => {
  const file = await recordedFile();
  const database = new DatabaseSync(file);
  database.exec("UPDATE records SET json = replace(json, 'call-7', 'call-8') WHERE run_id = 'b' AND seq = 7");
  database.close();
  const store = carveSqlite(file);
  const run = store.runs.find(({ runId }) => runId === 'b');
  expect(run?.damaged).toEqual([7]);
  expect([...(run?.records() ?? [])].map(({ seq }) => seq)).not.toContain(7);
  store.close();
});
