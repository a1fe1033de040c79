import { copyFile, readFile, readdir } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { readAll, allOf } from '../testing/read-all.ts';
import { scriptCalls, scriptRecord } from '../testing/record-script.ts';
import { tempFolder } from '../testing/temp-folder.ts';
import { openSqliteReader } from './sqlite-reader.ts';
import { sqliteStore } from './sqlite-store.ts';

let folder: Awaited<ReturnType<typeof tempFolder>>;
let file: string;

beforeEach(async () => {
  folder = await tempFolder();
  file = join(folder.path, 'runs.db');
});

afterEach(() => folder.dispose());

test('it reads what the store reads, from the start, from a seq, and page by page', async () => {
  const store = sqliteStore(file);
  for (const id of ['a', 'b', 'c']) await store.append(scriptCalls(id, 400));
  const reader = openSqliteReader(file);
  expect(await reader.listRuns({ limit: 2 })).toEqual(await store.listRuns({ limit: 2 }));
  const { next = '' } = await reader.listRuns({ limit: 2 });
  expect(await reader.listRuns({ after: next })).toEqual(await store.listRuns({ after: next }));
  expect(await reader.findRun('b')).toEqual(await store.findRun('b'));
  expect(await allOf(reader.readRun('b'))).toEqual(await readAll(store, 'b'));
  const few = await allOf(reader.readRun('b', { fromSeq: 395, limit: 3 }));
  expect(few.map(({ seq }) => seq)).toEqual([395, 396, 397]);
  expect(await allOf(reader.readRun('none'))).toEqual([]);
  await reader.close();
  await store.close();
});

test('a search finds the same whether a writer has indexed, has not, or has in part', async () => {
  const store = sqliteStore(file);
  await store.append(scriptCalls('a', 100));
  const reader = openSqliteReader(file);
  const finds = async (text: string, limit = 50): Promise<readonly string[]> => {
    const found: string[] = [];
    let after: string | undefined;
    do {
      const page = await reader.search({ text, limit, ...(after === undefined ? {} : { after }) });
      found.push(...page.hits.map(({ runId, seq }) => `${runId} ${seq}`));
      after = page.next;
    } while (after !== undefined);
    return found;
  };
  const texts = ['call-7', '"call-99.txt"', 'txt', 'nothing', 'TXT call-12'];
  const before = await Promise.all(texts.map((text) => finds(text, 7)));
  expect(before.map(({ length }) => length)).toEqual([1, 1, 100, 0, 1]);
  await store.search({ text: 'txt' });
  expect(await Promise.all(texts.map((text) => finds(text, 7)))).toEqual(before);
  await store.append(scriptCalls('b', 50));
  expect((await finds('txt', 7)).length).toBe(150);
  expect(new Set(await finds('txt', 7)).size).toBe(150);
  expect((await reader.search({ text: 'txt', runId: 'b' })).hits).toHaveLength(50);
  expect((await reader.search({ text: 'txt', kinds: ['run_ended'] })).hits).toEqual([]);
  await store.deleteRun('b');
  expect((await finds('txt', 7)).length).toBe(100);
  await reader.close();
  await store.close();
});

test('what was written since the last look is told, and nothing when nothing was', async () => {
  const store = sqliteStore(file);
  await store.append(scriptCalls('a', 2));
  const reader = openSqliteReader(file);
  expect(await reader.changes()).toBe(undefined);
  expect(await reader.changes()).toEqual([]);
  await store.append(scriptCalls('b', 2));
  await store.append([scriptRecord({ runId: 'a', seq: 2 })]);
  expect((await reader.changes())?.toSorted()).toEqual(['a', 'b']);
  expect(await reader.changes()).toEqual([]);
  await store.deleteRun('a');
  expect(await reader.changes()).toBe(undefined);
  await reader.close();
  await store.close();
});

test('no file is made where there is none', async () => {
  expect(() => openSqliteReader(file)).toThrow(expect.objectContaining({ code: 'store-io' }));
  expect(await readdir(folder.path)).toEqual([]);
});

test('opening, reading and closing changes no byte, also where a log was left that a writer would move into the file', async () => {
  const store = sqliteStore(file);
  await store.append(scriptCalls('a', 50));
  // As a killed writer leaves them.
  const copy = join(folder.path, 'left.db');
  await copyFile(file, copy);
  await copyFile(`${file}-wal`, `${copy}-wal`);
  await store.close();
  const bytes = async (): Promise<readonly Buffer[]> => [await readFile(copy), await readFile(`${copy}-wal`)];
  const before = await bytes();
  const reader = openSqliteReader(copy);
  expect((await allOf(reader.readRun('a'))).length).toBe(50);
  await reader.search({ text: 'call' });
  await reader.close();
  expect(await bytes()).toEqual(before);
});

test('a file of an earlier layout, another program or a text is refused as it is', async () => {
  const other = new DatabaseSync(file);
  other.exec('CREATE TABLE x (y)');
  other.close();
  expect(() => openSqliteReader(file)).toThrow(expect.objectContaining({ code: 'store-version' }));
  const old = join(folder.path, 'old.db');
  const store = sqliteStore(old);
  await store.close();
  const earlier = new DatabaseSync(old);
  earlier.exec('PRAGMA user_version = 2');
  earlier.close();
  const before = await readFile(old);
  expect(() => openSqliteReader(old)).toThrow(/earlier store layout 2/);
  expect(await readFile(old)).toEqual(before);
});

test('a damaged record ends reading where it stands', async () => {
  const store = sqliteStore(file);
  await store.append(scriptCalls('a', 5));
  await store.close();
  const damage = new DatabaseSync(file);
  damage.exec(`UPDATE records SET json = '{' WHERE seq = 3`);
  damage.close();
  const reader = openSqliteReader(file);
  const seqs: number[] = [];
  const reading = (async (): Promise<void> => {
    for await (const { seq } of reader.readRun('a')) seqs.push(seq);
  })();
  await expect(reading).rejects.toMatchObject({ code: 'invalid-record' });
  expect(seqs).toEqual([0, 1, 2]);
  await reader.close();
  await expect(reader.findRun('a')).rejects.toMatchObject({ code: 'store-closed' });
});
