import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';

import { scriptCalls } from '../../../test/support/script-records.ts';
import { runScript } from '../../../test/support/run-script.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { createEmptyStore, isStore } from './sqlite-database.ts';
import { sqliteOneShot } from './sqlite-one-shot.ts';
import { openSqliteReader } from './sqlite-reader.ts';
import { sqliteStore } from './sqlite-store.ts';
import { builtModule } from '../../../test/support/built-module.ts';

test('the schema hash is that of the tables and indexes that are created', () => {
  expect(isStore(createEmptyStore(), 'x')).toBe(true);
});

test('processes that create a store at the same time create it once', async () => {
  const folder = testFolder();
  const script = `
    import { sqliteStore } from ${JSON.stringify(builtModule('stores/sqlite/sqlite-store'))};
    const store = sqliteStore(process.argv[1]);
    console.log((await store.listRuns()).runs.length);
    await store.close();`;
  const file = join(folder, 'runs.db');
  const ends = await Promise.all(Array.from({ length: 4 }, () => runScript(script, [file]).ended));
  expect(ends.map(({ stdout, stderr }) => [stdout, stderr])).toEqual(ends.map(() => ['0\n', '']));
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
  const folder = testFolder();
  const file = join(folder, 'runs.db');
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
    const folder = testFolder();
    const at = (name: string): string => join(folder, name);
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
