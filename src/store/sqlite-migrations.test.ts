import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';

import { allOf, listAll, readAll } from '../testing/read-all.ts';
import { scriptCalls } from '../testing/record-script.ts';
import { runScript } from '../testing/run-script.ts';
import { tempFolder } from '../testing/temp-folder.ts';
import { foldRunSummary } from './run-summary.ts';
import type { RunSummary } from './run-summary.ts';
import { sqliteStore } from './sqlite-store.ts';

/** A file as the first version of coxswain left it, with a run `old` of three records. */
async function oldFile(): Promise<string> {
  const folder = await tempFolder();
  onTestFinished(() => folder.dispose());
  const file = join(folder.path, 'runs.db');
  const raw = new DatabaseSync(file);
  raw.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE runs (run_id TEXT NOT NULL PRIMARY KEY, minus_started_ms REAL NOT NULL, summary TEXT NOT NULL) STRICT;
    CREATE INDEX runs_newest_first ON runs (minus_started_ms, run_id);
    CREATE TABLE records (run_id TEXT NOT NULL, seq INTEGER NOT NULL, at_ms REAL NOT NULL, kind TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (run_id, seq)) STRICT;
    PRAGMA application_id = 0x436f7873;
    PRAGMA user_version = 1`);
  let summary: RunSummary | undefined;
  for (const record of scriptCalls('old', 3)) {
    summary = foldRunSummary(summary, record);
    raw
      .prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?)')
      .run('old', record.seq, record.recorded_at_unix_ms, record.payload.kind, JSON.stringify(record));
  }
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
  expect(await allOf(store.verify())).toEqual([]);
  await store.close();
  const raw = new DatabaseSync(file);
  expect(raw.prepare('PRAGMA user_version').get()).toEqual({ user_version: 3 });
  expect(raw.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'old%'").all()).toEqual([]);
  raw.close();
});

test('a step that fails leaves the file in its layout', async () => {
  const file = await oldFile();
  const raw = new DatabaseSync(file);
  raw.exec('CREATE TABLE snapshots (mine)');
  expect(() => sqliteStore(file)).toThrow(expect.objectContaining({ code: 'store-io' }));
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
