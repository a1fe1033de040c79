import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';

import { rounds, thorough } from '../../../test/support/rounds.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { listAll, readAll, scriptCalls, scriptRecord } from '../../../test/support/script-records.ts';
import { runScript } from '../../../test/support/run-script.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { sqliteStore } from './sqlite-store.ts';
import type { TrajectoryStore } from '../../core/store/trajectory-store.ts';
import { HANGS_AFTER_MS } from '../../../test/support/hangs-after.ts';
import { builtModule } from '../../../test/support/built-module.ts';

/** Times a deletion is killed; 200 was run for each release. */
const ROUNDS = rounds({ full: 20, short: 3 });
/** Records of a run that is deleted. */
const LONG = thorough ? 4000 : 1500;

async function newFile(): Promise<string> {
  const folder = testFolder();
  return join(folder, 'runs.db');
}

function open(file: string): TrajectoryStore {
  const store = sqliteStore(file);
  onTestFinished(() => store.close());
  return store;
}

function openRaw(file: string): DatabaseSync {
  const raw = new DatabaseSync(file);
  onTestFinished(() => {
    if (raw.isOpen) raw.close();
  });
  return raw;
}

/** Records of about 1 KB with the word `needle` and distinct words. */
function long(runId: string, records: number, fromSeq = 0): readonly TrajectoryRecord[] {
  return Array.from({ length: records }, (_, index) => {
    const seq = fromSeq + index;
    const trigger = Array.from({ length: 110 }, (_one, at) => `w${(seq * 31 + at * at * 17) % 4000}`).join(' ');
    return scriptRecord({ runId, seq, payload: { kind: 'compaction', trigger: `needle ${trigger}` } });
  });
}

async function fill(store: TrajectoryStore, runId: string, records: number): Promise<void> {
  for (let seq = 0; seq < records; seq += 500) await store.append(long(runId, Math.min(500, records - seq), seq));
}

/** Searches until nothing is left to index. */
async function indexAll(store: TrajectoryStore): Promise<number> {
  for (;;) {
    const { hits, notIndexed } = await store.search({ text: 'needle', limit: 1000 });
    if (notIndexed === 0) return hits.length;
  }
}

function count(raw: DatabaseSync, sql: string): number {
  return Number(Object.values(raw.prepare(sql).get() ?? {})[0]);
}

test('a deletion leaves no row and no word, and shrinks the file by the size of the run', async () => {
  const file = await newFile();
  const store = open(file);
  await fill(store, 'a', LONG);
  await fill(store, 'b', LONG);
  await indexAll(store);
  const bytes = await store.sizeOf();
  expect(await store.deleteRun('a')).toBe(true);
  expect(await store.sizeOf()).toBeLessThan(0.6 * bytes);
  const raw = openRaw(file);
  for (const table of ['records', 'indexed_records', 'record_words', 'runs', 'snapshots']) {
    expect([table, count(raw, `SELECT count(*) FROM ${table}`)]).toEqual([
      table,
      { runs: 1, snapshots: 0 }[table] ?? LONG,
    ]);
  }
  expect(count(raw, 'SELECT count(*) FROM removed_runs')).toBe(0);
  expect(count(raw, "SELECT count(*) FROM record_words WHERE record_words MATCH 'needle'")).toBe(LONG);
  raw.close();
  await store.close();
  expect((await stat(file)).size).toBeLessThan(0.65 * bytes);
  expect(await indexAll(open(file))).toBe(1000);
  expect(await Array.fromAsync(open(file).verify())).toEqual([]);
});

test('the word index shrinks with deletions, although the automatic merge of FTS5 is off', async () => {
  const file = await newFile();
  const store = open(file);
  for (const runId of ['a', 'b', 'c', 'd']) await fill(store, runId, LONG / 2);
  await indexAll(store);
  const raw = openRaw(file);
  const wordPages = (): number => count(raw, 'SELECT count(*) FROM record_words_data');
  const before = wordPages();
  for (const runId of ['a', 'b', 'c']) await store.deleteRun(runId);
  expect(wordPages()).toBeLessThan(0.5 * before);
  expect(count(raw, "SELECT v FROM record_words_config WHERE k = 'deletemerge'")).toBe(0);
});

test('while a large run is deleted, this process and another one write other runs', async () => {
  const file = await newFile();
  const [store, other] = [open(file), open(file)];
  await fill(store, 'large', 2 * LONG);
  const over = new AbortController();
  const deleting = store.deleteRun('large').finally(() => over.abort());
  let meanwhile = 0;
  for (let seq = 0; !over.signal.aborted; seq += 1) {
    await Promise.all([store.append(scriptCalls('a', 1, seq)), other.append(scriptCalls('b', 1, seq))]);
    meanwhile += 1;
  }
  expect(await deleting).toBe(true);
  expect(meanwhile).toBeGreaterThan(10);
  expect(await readAll(other, 'a')).toHaveLength(meanwhile);
  expect(await Array.fromAsync(other.verify())).toEqual([]);
});

/** A run whose deletion was killed after its first step. */
async function halfDeleted(file: string): Promise<void> {
  const store = open(file);
  await fill(store, 'a', 600);
  await fill(store, 'b', 3);
  await indexAll(store);
  await store.close();
  const raw = openRaw(file);
  raw.exec(`
    DELETE FROM runs WHERE run_id = 'a';
    INSERT INTO removed_runs VALUES ('a');
    DELETE FROM record_words WHERE rowid IN (SELECT id FROM records WHERE run_id = 'a' AND seq < 64);
    DELETE FROM indexed_records WHERE run_id = 'a' AND minus_seq > -64;
    DELETE FROM records WHERE run_id = 'a' AND seq < 64;
    UPDATE indexing SET removals = removals + 1`);
  raw.close();
}

test('a killed deletion is invisible, and the next deletion of any run removes the remaining rows', async () => {
  const file = await newFile();
  await halfDeleted(file);
  const store = open(file);
  expect((await listAll(store)).map((run) => run.runId)).toEqual(['b']);
  expect(await store.findRun('a')).toBeUndefined();
  expect(await readAll(store, 'a')).toEqual([]);
  expect(await indexAll(store)).toBe(3);
  expect(await Array.fromAsync(store.verify())).toEqual([]);
  expect(await store.transact('a', (view) => ({ records: [], result: [view.nextSeq, view.missed()] }))).toEqual([
    0,
    [],
  ]);
  expect(await store.deleteRun('a')).toBe(false);
  expect(count(openRaw(file), 'SELECT count(*) FROM records')).toBe(3);
  expect(count(openRaw(file), 'SELECT count(*) FROM indexed_records')).toBe(3);
});

test('an id whose deletion was killed starts again with only its new records', async () => {
  const file = await newFile();
  await halfDeleted(file);
  const store = open(file);
  await expect(store.append(scriptCalls('a', 1, 600))).rejects.toMatchObject({ code: 'store-gap' });
  expect(await store.append(scriptCalls('a', 3))).toBe(2);
  expect(await readAll(store, 'a')).toEqual(scriptCalls('a', 3));
  expect((await store.search({ text: 'call', runId: 'a' })).hits).toHaveLength(3);
  expect((await store.search({ text: 'needle', runId: 'a' })).hits).toEqual([]);
  expect(await Array.fromAsync(store.verify())).toEqual([]);
  expect(count(openRaw(file), 'SELECT count(*) FROM removed_runs')).toBe(0);
});

test('reading a run that is deleted and restarted meanwhile does not continue in the new run', async () => {
  const file = await newFile();
  const store = open(file);
  await fill(store, 'a', 2500);
  const seen: TrajectoryRecord[] = [];
  for await (const record of store.readRun('a')) {
    seen.push(record);
    if (seen.length !== 1) continue;
    await store.deleteRun('a');
    for (let seq = 0; seq < 2500; seq += 500) await store.append(scriptCalls('a', 500, seq));
  }
  expect(seen.length).toBeLessThan(2500);
  expect(seen.every(({ payload }) => payload.kind === 'compaction')).toBe(true);
});

/** Stores runs and deletes each, printing what it is at, until it is killed. */
const DELETER = `
  import { writeSync } from 'node:fs';
  import { sqliteStore } from ${JSON.stringify(builtModule('stores/sqlite/sqlite-store'))};
  const [, file, runId] = process.argv;
  const store = sqliteStore(file, { timeoutMs: ${HANGS_AFTER_MS} });
  await store.search({ text: 'needle' });
  writeSync(1, 'begins\\n');
  await store.deleteRun(runId);
  writeSync(1, 'deleted\\n');
  setInterval(() => {}, 1000);`;

test(
  `after SIGKILL at ${ROUNDS} random moments of a deletion the run is whole or gone`,
  async () => {
    const file = await newFile();
    const outcomes = new Map<string, number>();
    const store = open(file);
    for (let round = 0; round < ROUNDS; round += 1) {
      const runId = `run-${round}`;
      await fill(store, runId, 1200);
      await indexAll(store);
      const { child, ended } = runScript(DELETER, [file, runId]);
      child.stdout?.once('data', () => setTimeout(() => child.kill('SIGKILL'), Math.random() * 60));
      const { stdout, stderr } = await ended;
      expect(stderr).toBe('');
      const found = (await readAll(store, runId)).length;
      expect((await store.findRun(runId))?.records ?? 0).toBe(found);
      expect(await indexAll(store)).toBe(Math.min(1000, found));
      expect(stdout.includes('deleted') ? [0] : [0, 1200]).toContain(found);
      expect(await Array.fromAsync(store.verify())).toEqual([]);
      const left = count(openRaw(file), 'SELECT count(*) FROM records') - found;
      const outcome = found > 0 ? 'whole' : left > 0 ? 'gone, rows left' : 'gone';
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      await store.deleteRun(runId);
      expect(count(openRaw(file), 'SELECT count(*) FROM records')).toBe(0);
    }
    const summary = Array.from(outcomes, ([outcome, times]) => `${times} ${outcome}`).join(', ');
    process.stdout.write(`SIGKILL of SQLite deletions: ${ROUNDS} rounds: ${summary}\n`);
  },
  ROUNDS * 60_000,
);
