/**
 * The SQLite store relative to bare batched inserts of the same bytes, with and without its index, and with a million records. Run:
 * `node --expose-gc bench/sqlite.bench.ts [records]`. The default of 1,000,000 writes about 4 GB into a temporary folder.
 *
 * Ratios are medians of alternating rounds, so other disk load affects both sides.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';

import { encodeRecord } from '../src/records/encode-record.ts';
import type { TrajectoryRecord } from '../src/records/trajectory-record.ts';
import { sqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { TrajectoryStore } from '../src/store/trajectory-store.ts';

const RECORDS = Number(process.argv[2] ?? 1_000_000);
const RUN_RECORDS = 1000;
const BATCH = 100;
const ROUNDS = 9;
/** The length of real run ids. */
const RUN_ID = '3f2b8c1e-7d4a-4e6b-9c1d-5a8e2f7b6c3d';
const ROUND_RECORDS = 20_000;

const folder = mkdtempSync(join(tmpdir(), 'coxswain-bench-'));
let files = 0;
const newFile = (): string => join(folder, `${(files += 1)}.db`);

const WORDS = Array.from({ length: 4000 }, (_, index) => `word${((index * 7919) % 65_521).toString(36)}`);

/** About 1 KB of JSON with ordinary words. */
function record(runId: string, seq: number): TrajectoryRecord {
  let result = '';
  for (let index = 0; index < 110; index += 1) {
    result += `${WORDS[(seq * 31 + index * index * 17) % WORDS.length] ?? ''} `;
  }
  return {
    schema_version: 1,
    seq,
    run_id: runId,
    depth: 0,
    recorded_at_unix_ms: 1_700_000_000_000 + seq,
    payload: { kind: 'tool_ended', tool_call_id: `call-${seq}`, tool_name: 'bash', result, is_error: false },
  };
}

function batches(runId: string, count: number, size = BATCH): readonly (readonly TrajectoryRecord[])[] {
  return Array.from({ length: count / size }, (_, batch) =>
    Array.from({ length: size }, (_one, index) => record(runId, batch * size + index)),
  );
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** @param encode  returns the inserted text */
function bareInserts<Item>(inserted: readonly (readonly Item[])[], encode: (item: Item) => string): number {
  const database = new DatabaseSync(newFile());
  database.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE records ' +
      '(run_id TEXT NOT NULL, seq INTEGER NOT NULL, json TEXT NOT NULL, PRIMARY KEY (run_id, seq)) STRICT',
  );
  const insert = database.prepare('INSERT INTO records VALUES (?, ?, ?)');
  const startMs = performance.now();
  let seq = 0;
  for (const batch of inserted) {
    database.exec('BEGIN IMMEDIATE');
    for (const item of batch) {
      insert.run(RUN_ID, seq, encode(item));
      seq += 1;
    }
    database.exec('COMMIT');
  }
  const tookMs = performance.now() - startMs;
  database.close();
  return tookMs;
}

async function storeAppends(inserted: readonly (readonly TrajectoryRecord[])[], hasIndex = true): Promise<number> {
  const file = newFile();
  const store = sqliteStore(file);
  if (!hasIndex) keepIndexAway(file);
  const startMs = performance.now();
  for (const batch of inserted) await store.append(batch);
  const tookMs = performance.now() - startMs;
  await store.close();
  return tookMs;
}

/** Claims the indexing lease for an hour. */
function keepIndexAway(file: string): void {
  const database = new DatabaseSync(file);
  database.prepare("UPDATE indexing SET owner = 'bench', until_ms = ?").run(Date.now() + 3_600_000);
  database.close();
}

async function againstBare(size: number): Promise<void> {
  const inserted = batches(RUN_ID, ROUND_RECORDS, size);
  const lines = inserted.map((batch) => batch.map((one) => encodeRecord(one)));
  const bare: number[] = [];
  const encoding: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(bareInserts(lines, (line) => line));
    ours.push(await storeAppends(inserted));
    encoding.push(bareInserts(inserted, (one) => JSON.stringify(one)));
  }
  const rate = (times: readonly number[]): string => ((ROUND_RECORDS / median(times)) * 1000).toFixed(0);
  console.log(
    `batches of ${size}, FULL: store.append ${rate(ours)} rec/s; ` +
      `bare inserts of ready lines ${rate(bare)}, ratio ${(median(bare) / median(ours)).toFixed(2)}; ` +
      `of records, which have to be encoded, ${rate(encoding)}, ratio ${(median(encoding) / median(ours)).toFixed(2)}`,
  );
}

/** Long enough for the indexer to run. */
async function againstNoIndex(): Promise<void> {
  const inserted = batches(RUN_ID, ROUND_RECORDS * 4);
  const ratios: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const without = await storeAppends(inserted, false);
    ratios.push(without / (await storeAppends(inserted)));
  }
  console.log(
    `appends with the index against without: ratio ${median(ratios).toFixed(2)} (${ratios.map((one) => one.toFixed(2)).join(' ')})`,
  );
}

async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    const startMs = performance.now();
    await work();
    times.push(performance.now() - startMs);
  }
  console.log(`  ${name}: ${median(times).toFixed(2)} ms (slowest ${Math.max(...times).toFixed(2)})`);
}

function memory(): string {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return `heap ${(heapUsed / 1e6).toFixed(1)} MB, resident ${(rss / 1e6).toFixed(0)} MB`;
}

async function fill(store: TrajectoryStore): Promise<void> {
  const startMs = performance.now();
  const runs = RECORDS / RUN_RECORDS;
  for (let run = 0; run < runs; run += 1) {
    for (const batch of batches(`run-${run}`, RUN_RECORDS)) await store.append(batch);
    if (run === 20 || (run + 1) % (runs / 5) === 0) {
      const rate = (((run + 1) * RUN_RECORDS) / (performance.now() - startMs)) * 1000;
      console.log(`  ${(run + 1) * RUN_RECORDS} records: ${memory()}, ${rate.toFixed(0)} rec/s with making them`);
    }
  }
}

async function manyRecords(): Promise<void> {
  console.log(`${RECORDS} records in runs of ${RUN_RECORDS}:`);
  const file = newFile();
  const store = sqliteStore(file);
  await fill(store);
  await timed('50 runs listed', () => store.listRuns());
  const { next } = await store.listRuns({ limit: 500 });
  await timed('50 runs from the middle', () =>
    store.listRuns({ limit: 50, ...(next !== undefined && { after: next }) }),
  );
  await timed('a run of 1,000 read', async () => {
    for await (const one of store.readRun('run-7')) if (one.seq < 0) throw new Error('impossible');
  });
  await timed('100 records from the middle of a run', async () => {
    for await (const one of store.readRun('run-9', { fromSeq: 500, limit: 100 }))
      if (one.seq < 0) throw new Error('impossible');
  });
  await indexing(store);
  await timed('search: a word of 1 in 36 records', () => store.search({ text: WORDS[3] ?? '' }));
  await timed('search: two words', () => store.search({ text: `${WORDS[3] ?? ''} ${WORDS[5] ?? ''}` }));
  await timed('search: a phrase of few records', () => store.search({ text: 'call-777' }));
  await timed('search: in one run', () => store.search({ text: WORDS[3] ?? '', runId: 'run-7' }));
  const startMs = performance.now();
  await store.search({ text: 'bash' });
  console.log(`  search: a word of every record: ${(performance.now() - startMs).toFixed(0)} ms`);
  await store.close();
  console.log(`  file ${(statSync(file).size / 1e6).toFixed(0)} MB; ${memory()}`);
}

async function indexing(store: TrajectoryStore): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const startMs = performance.now();
  let { notIndexed } = await store.search({ text: 'nothing' });
  const missing = notIndexed;
  delay.enable();
  await new Promise((resolve) => {
    setTimeout(resolve, 10_000);
  });
  delay.disable();
  ({ notIndexed } = await store.search({ text: 'nothing' }));
  const rate = ((missing - notIndexed) / (performance.now() - startMs)) * 1000;
  console.log(
    `  index in the background: ${rate.toFixed(0)} rec/s, event-loop delay p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms`,
  );
  while (notIndexed > 0) ({ notIndexed } = await store.search({ text: 'nothing' }));
  console.log(`  all indexed after ${((performance.now() - startMs) / 1000).toFixed(0)} s; ${memory()}`);
}

try {
  await manyRecords();
  for (const size of [20, 100, 500]) await againstBare(size);
  await againstNoIndex();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
