import { execFile } from 'node:child_process';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

import { damageSqlite } from '../../../test/support/damage-sqlite.ts';
import { openOnDisk } from '../../../test/support/open-on-disk.ts';
import { listAll, readAll, scriptCalls, scriptRecord } from '../../../test/support/script-records.ts';
import { storeContract } from '../../../test/support/store-contract.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { requireSqlite } from './sqlite-database.ts';
import { rowChecksums } from '../../core/store/run-check.ts';
import { sqliteStore } from './sqlite-store.ts';

storeContract('sqliteStore', () =>
  openOnDisk(
    (folder) => sqliteStore(join(folder, 'runs.db')),
    (folder, damage) => damageSqlite(join(folder, 'runs.db'), damage),
  ),
);

async function newFile(): Promise<string> {
  const folder = testFolder();
  return join(folder, 'deep', 'runs.db');
}

/** Makes a database with SQL, as another program would. */
async function foreignFile(sql: string): Promise<string> {
  const file = await newFile();
  await mkdir(join(file, '..'), { recursive: true });
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
  return file;
}

test('the file, its log and its folder are accessible to their owner only', async () => {
  const file = await newFile();
  const store = sqliteStore(file);
  await store.append(scriptCalls('a', 1));
  expect((await stat(join(file, '..'))).mode & 0o777).toBe(0o700);
  for (const suffix of ['', '-wal', '-shm']) expect((await stat(file + suffix)).mode & 0o777).toBe(0o600);
  await store.close();
});

test('a database of another program is refused and unchanged', async () => {
  for (const sql of ['CREATE TABLE mine (a)', 'PRAGMA application_id = 7', 'PRAGMA user_version = 99']) {
    const file = await foreignFile(sql);
    const before = await readFile(file);
    expect(() => sqliteStore(file)).toThrow(
      expect.objectContaining({ code: 'store-version', message: expect.stringContaining('another program') }),
    );
    expect(await readFile(file)).toEqual(before);
  }
});

test('a store of a newer layout is refused with both versions in the message', async () => {
  const file = await newFile();
  await sqliteStore(file).close();
  const database = new DatabaseSync(file);
  database.exec('PRAGMA user_version = 99');
  database.close();
  expect(() => sqliteStore(file)).toThrow(
    expect.objectContaining({ code: 'store-version', message: expect.stringMatching(/layout 99.*layout 4/) }),
  );
});

test('a file that is not a database is refused and unchanged', async () => {
  const file = await foreignFile('');
  await writeFile(file, 'dear diary, '.repeat(500));
  expect(() => sqliteStore(file)).toThrow(expect.objectContaining({ code: 'store-version', cause: expect.any(Error) }));
  expect(await readFile(file, 'utf8')).toBe('dear diary, '.repeat(500));
});

test('an empty file becomes a store', async () => {
  const file = await foreignFile('');
  await writeFile(file, '');
  const store = sqliteStore(file);
  expect(await store.append(scriptCalls('a', 1))).toBe(0);
  await store.close();
});

test('an invalid path or an option out of range is invalid-argument', () => {
  for (const file of ['', ':memory:', 'file:x.db?mode=memory']) {
    expect(() => sqliteStore(file)).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
  }
  for (const timeoutMs of [-1, 0.5, Number.NaN, 2 ** 31]) {
    expect(() => sqliteStore('x.db', { timeoutMs })).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
  }
});

test('a path that cannot be opened is store-io with its cause', async () => {
  const file = await foreignFile('');
  expect(() => sqliteStore(join(file, 'below-a-file.db'))).toThrow(
    expect.objectContaining({ code: 'store-io', cause: expect.any(Error) }),
  );
});

test('SQLite before 3.51.3 is refused', () => {
  for (const version of ['3.51.2', '3.9.0', '2.99.99', '3.51', 'what']) {
    expect(() => requireSqlite(version)).toThrow(expect.objectContaining({ code: 'store-version' }));
  }
  for (const version of ['3.51.3', '3.51.10', '3.53.0', '4.0.0', '4']) requireSqlite(version);
});

test('a write that waits longer than timeoutMs for another process is store-io and stores nothing', async () => {
  const file = await newFile();
  const store = sqliteStore(file, { timeoutMs: 20 });
  const other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  await expect(store.append(scriptCalls('a', 1))).rejects.toMatchObject({
    code: 'store-io',
    message: expect.stringContaining('locked'),
  });
  other.exec('ROLLBACK');
  other.close();
  expect(await store.append(scriptCalls('a', 1))).toBe(0);
  await store.close();
});

test('a fault in the middle of an append stores nothing of the batch', async () => {
  // Many records go into the file several at a time.
  for (const [seq, count] of [
    [2, 4],
    [20, 40],
  ] as const) {
    const file = await newFile();
    const store = sqliteStore(file);
    const other = new DatabaseSync(file);
    other.exec(
      `CREATE TRIGGER no BEFORE INSERT ON records WHEN new.seq = ${seq} BEGIN SELECT RAISE(ABORT, 'disk on fire'); END`,
    );
    const appends = [store.append(scriptCalls('a', count)), store.append(scriptCalls('b', 1))];
    await expect(appends[0]).rejects.toMatchObject({
      code: 'store-io',
      message: expect.stringContaining('disk on fire'),
    });
    expect(await appends[1]).toBe(0);
    expect(await readAll(store, 'a')).toEqual([]);
    expect(await store.findRun('a')).toBeUndefined();
    other.exec('DROP TRIGGER no');
    other.close();
    expect(await store.append(scriptCalls('a', count))).toBe(count - 1);
    expect(await readAll(store, 'a')).toEqual(scriptCalls('a', count));
    await store.close();
  }
});

test('a stored record of a newer schema is refused when reading reaches it', async () => {
  const file = await newFile();
  const store = sqliteStore(file);
  await store.append(scriptCalls('a', 2));
  const other = new DatabaseSync(file);
  const json = JSON.stringify(scriptCalls('a', 2)[1]).replace('"schema_version":1', '"schema_version":5');
  const update = other.prepare('UPDATE records SET json = ?, checksum = ? WHERE seq = 1');
  update.run(json, rowChecksums('records', 'a')(1, json));
  other.close();
  expect(await readAll(store, 'a', { limit: 1 })).toHaveLength(1);
  await expect(readAll(store, 'a')).rejects.toMatchObject({ code: 'schema-version' });
  await store.close();
});

test('a long run is read in pages without an open statement', async () => {
  const file = await newFile();
  const store = sqliteStore(file);
  const filler = 'x'.repeat(300_000);
  for (let seq = 0; seq < 12; seq += 1) {
    await store.append([scriptRecord({ runId: 'a', seq, payload: { kind: 'compaction', trigger: filler } })]);
  }
  const seqs: number[] = [];
  for await (const record of store.readRun('a', { limit: 11 })) {
    seqs.push(record.seq);
    if (record.seq < 3) await store.append([scriptRecord({ runId: 'b', seq: record.seq })]);
  }
  expect(seqs).toEqual(Array.from({ length: 11 }, (_, index) => index));
  await store.close();
});

test('processes that create and use one file at the same time all succeed', async () => {
  const file = await newFile();
  const module = new URL('./sqlite-store.ts', import.meta.url).href;
  const script = `
    import { sqliteStore } from ${JSON.stringify(module)};
    const store = sqliteStore(process.argv[1]);
    for (let seq = 0; seq < 20; seq += 1) {
      await store.append([{ schema_version: 1, seq, run_id: process.argv[2], depth: 0, recorded_at_unix_ms: 1, payload: { kind: 'turn_started' } }]);
    }
    await store.close();`;
  const run = promisify(execFile);
  const outputs = await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      run(process.execPath, ['--input-type=module', '-e', script, file, `run-${index}`]),
    ),
  );
  expect(outputs.map(({ stderr }) => stderr)).toEqual(outputs.map(() => ''));
  const store = sqliteStore(file);
  expect((await listAll(store)).map((summary) => summary.turns)).toEqual(outputs.map(() => 20));
  await store.close();
});
