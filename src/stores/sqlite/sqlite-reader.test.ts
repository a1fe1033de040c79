import { chmod, copyFile, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';

import { beforeEach, expect, test, vi } from 'vitest';

import { readAll, scriptCalls, scriptRecord } from '../../../test/support/script-records.ts';
import { runScript } from '../../../test/support/run-script.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { openSqliteReader } from './sqlite-reader.ts';
import { sqliteStore } from './sqlite-store.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = testFolder();
  file = join(folder, 'runs.db');
});

test('it reads the same as the store: from the start, from a seq, and page by page', async () => {
  const store = sqliteStore(file);
  for (const id of ['a', 'b', 'c']) await store.append(scriptCalls(id, 400));
  const reader = openSqliteReader(file);
  expect(await reader.listRuns({ limit: 2 })).toEqual(await store.listRuns({ limit: 2 }));
  const { next = '' } = await reader.listRuns({ limit: 2 });
  expect(await reader.listRuns({ after: next })).toEqual(await store.listRuns({ after: next }));
  expect(await reader.findRun('b')).toEqual(await store.findRun('b'));
  expect(await Array.fromAsync(reader.readRun('b'))).toEqual(await readAll(store, 'b'));
  const few = await Array.fromAsync(reader.readRun('b', { fromSeq: 395, limit: 3 }));
  expect(few.map(({ seq }) => seq)).toEqual([395, 396, 397]);
  expect(await Array.fromAsync(reader.readRun('none'))).toEqual([]);
  await reader.close();
  await store.close();
});

test('a search finds the same before, during and after indexing by a writer', async () => {
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

test('the pages of a search scan records without an index once, and a change of the store is seen', async () => {
  const store = sqliteStore(file);
  await store.append(scriptCalls('a', 100));
  const reader = openSqliteReader(file);
  const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
  const countScans = (): number => prepare.mock.calls.filter(([sql]) => sql.includes('json LIKE')).length;
  const first = await reader.search({ text: 'txt', limit: 40 });
  const scans = countScans();
  const second = await reader.search({ text: 'txt', limit: 40, after: first.next ?? '' });
  const third = await reader.search({ text: 'txt', limit: 40, after: second.next ?? '' });
  expect([first, second, third].map(({ hits }) => hits.length)).toEqual([40, 40, 20]);
  expect([countScans(), third.next]).toEqual([scans, undefined]);
  await store.append(scriptCalls('b', 50));
  expect((await reader.search({ text: 'txt', limit: 500 })).hits).toHaveLength(150);
  await store.deleteRun('a');
  expect(
    (await reader.search({ text: 'txt', limit: 40, after: first.next ?? '' })).hits.map(({ runId }) => runId),
  ).not.toContain('a');
  prepare.mockRestore();
  await reader.close();
  await store.close();
});

test('runs written since the last call are reported, and nothing if there were none', async () => {
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

test('a missing file is not created', async () => {
  expect(() => openSqliteReader(file)).toThrow(expect.objectContaining({ code: 'store-io' }));
  expect(await readdir(folder)).toEqual([]);
});

test('opening, reading and closing change no byte, even if a writer would checkpoint the log', async () => {
  const store = sqliteStore(file);
  await store.append(scriptCalls('a', 50));
  // As a killed writer leaves them.
  const copy = join(folder, 'left.db');
  await copyFile(file, copy);
  await copyFile(`${file}-wal`, `${copy}-wal`);
  await store.close();
  const bytes = async (): Promise<readonly Buffer[]> => [await readFile(copy), await readFile(`${copy}-wal`)];
  const before = await bytes();
  const reader = openSqliteReader(copy);
  expect((await Array.fromAsync(reader.readRun('a'))).length).toBe(50);
  await reader.search({ text: 'call' });
  await reader.close();
  expect(await bytes()).toEqual(before);
});

test('a file of another layout, another program or plain text is refused and unchanged', async () => {
  const other = new DatabaseSync(file);
  other.exec('CREATE TABLE x (y)');
  other.close();
  expect(() => openSqliteReader(file)).toThrow(expect.objectContaining({ code: 'store-version' }));
  await writeFile(join(folder, 'text.db'), 'no database');
  expect(() => openSqliteReader(join(folder, 'text.db'))).toThrow(expect.objectContaining({ code: 'store-version' }));
  const old = join(folder, 'old.db');
  const raw = new DatabaseSync(old);
  raw.exec('PRAGMA application_id = 0x436f7873; PRAGMA user_version = 2');
  raw.close();
  const before = await readFile(old);
  expect(() => openSqliteReader(old)).toThrow(/store layout 2.*layout 4/);
  expect(await readFile(old)).toEqual(before);
});

test('nothing in the folder changes, whatever files are next to the database, and a read-only folder works too', async () => {
  const store = sqliteStore(file);
  await store.append(scriptCalls('a', 50));
  const at = (name: string): string => join(folder, name);
  for (const [name, ends] of [
    ['killed', ['', '-wal', '-shm']],
    ['copied', ['', '-wal']],
  ] as const) {
    await mkdir(at(name));
    for (const end of ends) await copyFile(`${file}${end}`, join(at(name), `runs.db${end}`));
  }
  await store.close();
  await mkdir(at('closed'));
  await copyFile(file, join(at('closed'), 'runs.db'));
  for (const name of ['killed', 'copied', 'closed']) {
    await chmod(at(name), 0o500);
    const stamps = async (): Promise<unknown> =>
      Promise.all(
        (await readdir(at(name))).map(async (one) => {
          const { mtimeNs, size } = await stat(join(at(name), one), { bigint: true });
          return [one, mtimeNs, size];
        }),
      );
    const before = await stamps();
    const reader = openSqliteReader(join(at(name), 'runs.db'));
    expect((await Array.fromAsync(reader.readRun('a'))).length).toBe(50);
    await reader.search({ text: 'call' });
    expect(await Array.fromAsync(reader.verify())).toEqual([]);
    await reader.close();
    expect(await stamps()).toEqual(before);
    await chmod(at(name), 0o700);
  }
});

test.each(['closed', 'killed', 'copied'])(
  'records that a writer adds while a %s file is read are found',
  async (state) => {
    const copy = join(folder, 'copy.db');
    const store = sqliteStore(state === 'closed' ? copy : file);
    await store.append(scriptCalls('a', 5));
    if (state !== 'closed') {
      for (const end of state === 'killed' ? ['', '-wal', '-shm'] : ['', '-wal'])
        await copyFile(`${file}${end}`, `${copy}${end}`);
    }
    await store.close();
    const reader = openSqliteReader(copy);
    expect((await reader.findRun('a'))?.records).toBe(5);
    await reader.changes();
    // In a separate process, because a process maps the shared memory once.
    const script = `
    import { sqliteOneShot } from ${JSON.stringify(new URL('./sqlite-one-shot.ts', import.meta.url).href)};
    const [file, record] = process.argv.slice(1);
    await sqliteOneShot(file, { timeoutMs: 5000 }).transact('a', () => ({ records: [JSON.parse(record)], result: 0 }));`;
    for (const record of scriptCalls('a', 3, 5)) {
      expect(await runScript(script, [copy, JSON.stringify(record)]).ended).toMatchObject({ stderr: '' });
      expect((await reader.findRun('a'))?.records).toBe(record.seq + 1);
      expect(await reader.changes()).toEqual(['a']);
    }
    expect((await Array.fromAsync(reader.readRun('a'))).length).toBe(8);
    await reader.close();
  },
);

test('a run with a missing first, middle or last record is not read as complete', async () => {
  const store = sqliteStore(file);
  for (const id of ['a', 'b', 'c', 'd']) await store.append(scriptCalls(id, 5));
  await store.close();
  const damage = new DatabaseSync(file);
  damage.exec(
    "DELETE FROM records WHERE (run_id, seq) IN (VALUES ('a', 0), ('b', 2), ('c', 4)); DELETE FROM runs WHERE run_id = 'd'",
  );
  damage.close();
  const reader = openSqliteReader(file);
  for (const [id, seq] of [
    ['a', 0],
    ['b', 2],
    ['c', 4],
  ] as const) {
    await expect(Array.fromAsync(reader.readRun(id))).rejects.toMatchObject({
      code: 'store-damaged',
      details: { runId: id, seq },
    });
  }
  await expect(Array.fromAsync(reader.readRun('d'))).rejects.toMatchObject({ code: 'store-damaged' });
  expect((await Array.fromAsync(reader.readRun('c', { limit: 4 }))).length).toBe(4);
  await reader.close();
});

test('reading ends at a damaged record', async () => {
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
  await expect(reading).rejects.toMatchObject({ code: 'store-damaged', details: { runId: 'a', seq: 3 } });
  expect(seqs).toEqual([0, 1, 2]);
  await reader.close();
  await expect(reader.findRun('a')).rejects.toMatchObject({ code: 'store-closed' });
});
