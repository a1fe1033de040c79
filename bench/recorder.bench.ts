/**
 * Cost of recording: events through the whole recorder into a store on disk, relative to the simplest durable way to write the same
 * records in the same batches: a transaction of prepared inserts at `synchronous=FULL`, with and without `JSON.stringify`. The sides
 * alternate. Then the time of `emit`, and the memory of a million records.
 *
 * `npx node --expose-gc bench/recorder.bench.ts [RECORDS] [ROUNDS]`, default 60,000 and 5; the median of the rounds.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AgentEvent } from '../src/core/records/agent-event.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { TrajectoryRecorder } from '../src/core/recorder/trajectory-recorder.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import type { TrajectorySink } from '../src/core/store/trajectory-store.ts';

const total = Number(process.argv[2] ?? 60_000);
const rounds = Number(process.argv[3] ?? 5);
const BURSTS = [64, 256, 500];
const MILLION = 1_000_000;
const work = mkdtempSync(join(tmpdir(), 'coxswain-bench-'));
let files = 0;

function place(): string {
  return join(work, `place-${(files += 1)}`);
}

const result = 'a line of an ordinary result that goes on for a while; '.repeat(16);

function eventOf(index: number): AgentEvent {
  return {
    type: 'tool_execution_end',
    toolCallId: `call-${index}`,
    toolName: 'read_file',
    // A flat string, as a host has after decoding.
    result: JSON.parse(JSON.stringify(`${index} ${result}`)) as string,
    isError: false,
  };
}

const events = Array.from({ length: total }, (_, index) => eventOf(index));

interface Taken {
  readonly perSecond: number;
  /** Records per batch. */
  readonly sizes: readonly number[];
}

/** Emits the events in bursts and waits for queue space like a host. */
async function record(store: TrajectorySink, burst: number): Promise<Taken> {
  const sizes: number[] = [];
  const sink: TrajectorySink = {
    append: (batch) => {
      // Keeps no reference to the batch, as the recorder releases stored records.
      sizes.push(batch.length);
      return store.append(batch);
    },
    flush: () => store.flush(),
    close: () => store.close(),
  };
  const recorder = new TrajectoryRecorder(sink, { overflow: 'wait', maxQueued: 4 * burst, flushTimeLimitMs: 120_000 });
  // Opens the store before measuring, as in a long-lived process.
  recorder.onEvent({ type: 'run_identified', identity: { runId: 'bench', depth: 0 } });
  await recorder.flush();
  sizes.length = 0;
  globalThis.gc?.();
  const begun = performance.now();
  for (let index = 0; index < total; index += burst) {
    for (let at = index; at < Math.min(total, index + burst); at += 1) recorder.onEvent(events[at] ?? eventOf(at));
    await nextTurn();
    await recorder.ready();
  }
  if ((await recorder.flush()) !== 'stored') throw new Error(JSON.stringify(recorder.health()));
  const perSecond = total / ((performance.now() - begun) / 1_000);
  await store.close();
  return { perSecond, sizes };
}

/** The records of the events as read from a store. */
async function recordsOf(): Promise<readonly TrajectoryRecord[]> {
  const path = place();
  await record(sqliteStore(path, { fsync: 'none' }), 500);
  const reader = sqliteStore(path);
  const records = await Array.fromAsync(reader.readRun('bench', { fromSeq: 1 }));
  await reader.close();
  return records;
}

/** The records in batches of these sizes. */
function cut<Item>(items: readonly Item[], sizes: readonly number[]): readonly (readonly Item[])[] {
  let from = 0;
  return sizes.map((size) => items.slice(from, (from += size)));
}

/** Records per second; includes encoding if the input is records, not text. */
function bareSqlite(batches: readonly (readonly (TrajectoryRecord | string)[])[]): number {
  const database = new DatabaseSync(place());
  database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
  database.exec(
    'CREATE TABLE records (run_id TEXT NOT NULL, seq INTEGER NOT NULL, at_ms REAL NOT NULL, kind TEXT NOT NULL, ' +
      'json TEXT NOT NULL, PRIMARY KEY (run_id, seq)) STRICT',
  );
  const insert = database.prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?)');
  globalThis.gc?.();
  const begun = performance.now();
  let seq = 0;
  for (const batch of batches) {
    database.exec('BEGIN IMMEDIATE');
    for (const one of batch) {
      insert.run('bench', (seq += 1), 1.5e12, 'tool_ended', typeof one === 'string' ? one : JSON.stringify(one));
    }
    database.exec('COMMIT');
  }
  const took = performance.now() - begun;
  database.close();
  return total / (took / 1_000);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

const bytes = Buffer.byteLength(JSON.stringify({ ...eventOf(0), run_id: 'bench', recorded_at_unix_ms: Date.now() }));
console.log(`${total} records of about ${bytes} bytes, ${rounds} rounds, medians; records a second, and ratios`);
const records = await recordsOf();
const texts = records.map((one) => JSON.stringify(one));
for (const burst of BURSTS) {
  const speeds: number[] = [];
  const ratios: number[] = [];
  const ratiosEncoding: number[] = [];
  let size = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { perSecond, sizes } = await record(sqliteStore(place()), burst);
    speeds.push(perSecond);
    ratios.push(perSecond / bareSqlite(cut(texts, sizes)));
    ratiosEncoding.push(perSecond / bareSqlite(cut(records, sizes)));
    size = total / sizes.length;
    for (const left of readdirSync(work)) rmSync(join(work, left), { recursive: true, force: true });
  }
  console.log(
    `batches of ${size.toFixed(0).padStart(3)}: ${Math.round(median(speeds)).toString().padStart(7)}/s, ` +
      `${median(ratios).toFixed(2)} of bare writing, ${median(ratiosEncoding).toFixed(2)} of bare encoding and writing`,
  );
}

// The time of `emit` while the store is being written.
{
  const store = sqliteStore(place());
  const recorder = new TrajectoryRecorder(store, { overflow: 'wait', flushTimeLimitMs: 120_000 });
  recorder.onEvent({ type: 'run_identified', identity: { runId: 'bench', depth: 0 } });
  const times: number[] = [];
  for (let index = 0; index < total; index += 1) {
    const event = events[index] ?? eventOf(index);
    const begun = process.hrtime.bigint();
    recorder.onEvent(event);
    times.push(Number(process.hrtime.bigint() - begun) / 1_000);
    if (index % 20 === 0) await nextTurn();
    if (index % 1_000 === 0) await recorder.ready();
  }
  await recorder.flush();
  await store.close();
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
  console.log(`emit: median ${at(0.5)} µs, p99 ${at(0.99)} µs, p99.9 ${at(0.999)} µs`);
}

// Memory of a long run.
{
  const store = sqliteStore(place());
  const recorder = new TrajectoryRecorder(store, { overflow: 'wait', flushTimeLimitMs: 120_000 });
  recorder.onEvent({ type: 'run_identified', identity: { runId: 'bench', depth: 0 } });
  const heap: string[] = [];
  for (let index = 0; index < MILLION; index += 1) {
    recorder.onEvent({ type: 'message_update', delta: '' });
    recorder.onEvent({ type: 'turn_start' });
    if (index % 500 === 499) {
      await nextTurn();
      await recorder.ready();
    }
    if (index % 250_000 === 249_999) {
      await recorder.flush();
      globalThis.gc?.();
      heap.push((process.memoryUsage().heapUsed / 1e6).toFixed(1));
    }
  }
  const { written, dropped } = recorder.health();
  console.log(`heap after each quarter of ${written} records: ${heap.join(', ')} MB; dropped ${dropped}`);
  await store.close();
}
rmSync(work, { recursive: true, force: true });
