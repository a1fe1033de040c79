import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';

import { listAll, readAll } from '../../testing/read-all.ts';
import { scriptCalls } from '../../testing/record-script.ts';
import { runScript } from '../../../test/support/run-script.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { RunCounter } from '../run-summary.ts';
import { emptyDatabase, layoutOf, NEWEST_LAYOUT } from './sqlite-migrations.ts';
import { sqliteOneShot } from './sqlite-one-shot.ts';
import { openSqliteReader } from './sqlite-reader.ts';
import { sqliteStore } from './sqlite-store.ts';

/** A file as the first version of coxswain left it, with a run `old` of three records. */
async function oldFile(): Promise<string> {
  const folder = await tempFolder();
  onTestFinished(() => folder.dispose());
  const file = join(folder.path, 'runs.db');
  const raw = new DatabaseSync(file);
  raw.exec('PRAGMA journal_mode = WAL');
  for (const { sql } of emptyDatabase(1).prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL').all()) {
    raw.exec(String(sql));
  }
  raw.exec('PRAGMA application_id = 0x436f7873; PRAGMA user_version = 1');
  const counter = new RunCounter();
  for (const record of scriptCalls('old', 3)) {
    counter.fold(record);
    raw
      .prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?)')
      .run('old', record.seq, record.recorded_at_unix_ms, record.payload.kind, JSON.stringify(record));
  }
  // Versions that wrote this layout did not keep which calls are open.
  const { openCalls: _openCalls, ...summary } = counter.summary();
  raw.prepare('INSERT INTO runs VALUES (?, ?, ?)').run('old', -1000, JSON.stringify(summary));
  raw.close();
  return file;
}

test('a file of the first layout is brought to this one with all its runs', async () => {
  const file = await oldFile();
  const store = sqliteStore(file);
  expect(await readAll(store, 'old')).toEqual(scriptCalls('old', 3));
  expect(await store.append(scriptCalls('old', 3, 1))).toBe(3);
  await store.transact('old', () => ({ records: [], snapshot: 'now', result: undefined }));
  expect((await store.search({ text: 'call-2' })).hits).toHaveLength(1);
  expect(await Array.fromAsync(store.verify())).toEqual([]);
  await store.close();
  const raw = new DatabaseSync(file);
  expect(raw.prepare('PRAGMA user_version').get()).toEqual({ user_version: NEWEST_LAYOUT });
  expect(raw.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'old%'").all()).toEqual([]);
  raw.close();
});

test('a file with a foreign table is left in its layout, and brought over once the table is gone', async () => {
  const file = await oldFile();
  const raw = new DatabaseSync(file);
  raw.exec('CREATE TABLE snapshots (mine)');
  expect(() => sqliteStore(file)).toThrow(expect.objectContaining({ code: 'store-schema' }));
  expect(raw.prepare('PRAGMA user_version').get()).toEqual({ user_version: 1 });
  expect(raw.prepare('SELECT count(*) AS n FROM records').get()).toEqual({ n: 3 });
  raw.exec('DROP TABLE snapshots');
  raw.close();
  const store = sqliteStore(file);
  expect(await listAll(store)).toHaveLength(1);
  await store.close();
});

test('processes that meet an old file at the same time bring it over once', async () => {
  const file = await oldFile();
  const script = `
    import { sqliteStore } from ${JSON.stringify(new URL('./sqlite-store.ts', import.meta.url).href)};
    const store = sqliteStore(process.argv[1]);
    console.log((await store.findRun('old')).records);
    await store.close();`;
  const ends = await Promise.all(Array.from({ length: 4 }, () => runScript(script, [file]).ended));
  expect(ends.map(({ stdout, stderr }) => [stdout, stderr])).toEqual(ends.map(() => ['3\n', '']));
});

test('every layout is known by exactly the tables and indexes that its steps make', () => {
  for (let layout = 1; layout <= NEWEST_LAYOUT; layout += 1) {
    const database = emptyDatabase(layout);
    database.exec(`PRAGMA application_id = 0x436f7873; PRAGMA user_version = ${layout}`);
    expect(layoutOf(database, 'x')).toBe(layout);
  }
});

test.each([
  ['CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM runs; END', 'foreign trigger t'],
  ['CREATE VIEW v AS SELECT 1', 'foreign view v'],
  ['CREATE TABLE x (y)', 'foreign table x'],
  ["CREATE VIRTUAL TABLE x USING fts5 (words, content = '')", 'foreign table x'],
  ['CREATE INDEX i ON records (json)', 'foreign index i'],
  ['ALTER TABLE runs ADD COLUMN more TEXT GENERATED ALWAYS AS (1)', 'table runs was altered'],
  ['DROP INDEX runs_newest_first', 'index runs_newest_first is missing'],
])('a store that is not exactly one is refused, with what is wrong: %s', async (sql, problem) => {
  const folder = await tempFolder();
  onTestFinished(() => folder.dispose());
  const file = join(folder.path, 'runs.db');
  const store = sqliteStore(file);
  await store.append(scriptCalls('a', 3));
  await store.close();
  const raw = new DatabaseSync(file);
  raw.exec(sql);
  raw.close();
  const refusal = expect.objectContaining({ code: 'store-schema', message: expect.stringContaining(problem) });
  expect(() => sqliteStore(file)).toThrow(refusal);
  expect(() => sqliteOneShot(file, { timeoutMs: 100 })).toThrow(refusal);
  expect(() => openSqliteReader(file)).toThrow(refusal);
});

test.skipIf(process.platform === 'win32')(
  'a link, a pipe and a journal that names another file are refused before SQLite opens them',
  async () => {
    const folder = await tempFolder();
    onTestFinished(() => folder.dispose());
    const at = (name: string): string => join(folder.path, name);
    const foreign = expect.objectContaining({ code: 'store-schema' });
    const refused = expect.objectContaining({ code: 'store-io' });
    symlinkSync(at('target.db'), at('link.db'));
    expect(() => sqliteStore(at('link.db'))).toThrow(refused);
    expect(existsSync(at('target.db'))).toBe(false);
    spawnSync('mkfifo', [at('pipe.db'), at('runs.db-journal')]);
    expect(() => sqliteStore(at('pipe.db'))).toThrow(refused);
    expect(() => sqliteStore(at('runs.db'))).toThrow(foreign);
    expect(() => openSqliteReader(at('runs.db'))).toThrow(foreign);
    rmSync(at('runs.db-journal'));
    await sqliteStore(at('runs.db')).close();
    writeFileSync(at('runs.db-journal'), Buffer.from('d9d505f920a163d7', 'hex'));
    expect(() => sqliteStore(at('runs.db'))).toThrow(/would delete/);
  },
);
