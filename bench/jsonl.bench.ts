/**
 * Cost of the JSON Lines sink relative to the disk. Run: `node bench/jsonl.bench.ts [FOLDER]`. For each batch size, four ways alternate:
 *
 * - raw: prepared bytes with `write` and `fdatasync` (group commit);
 * - text: the same, but each batch is first serialised with `JSON.stringify`;
 * - the store, awaiting each batch before the next;
 * - the store with two batches in flight, as a queue does during a sync.
 *
 * Prints records per second (median of the rounds) and the ratios to raw and to text. Other load changes the ratios, so the load
 * average is printed too.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';

import type { TrajectoryRecord } from '../src/records/trajectory-record.ts';
import { linesStore } from '../test/support/lines-store.ts';
import { MAX_BATCH_RECORDS } from '../src/store/trajectory-store.ts';

const BATCHES: readonly number[] = [64, 256, 500, 1024];
const RECORDS = 16 * 1024;
const ROUNDS = 9;
const RECORD_CHARS = 1024;

/** Target folder: next to the code, because `/tmp` may be in memory. */
const parent = process.argv[2] ?? '.';

function records(): readonly TrajectoryRecord[] {
  return Array.from({ length: RECORDS }, (_, seq): TrajectoryRecord => {
    const line = `${seq}: const value = load("path/${seq % 97}");\n\treturn value ?? fallback;\n`;
    const result = line.repeat(20).slice(0, RECORD_CHARS - 200);
    return {
      schema_version: 1,
      seq,
      run_id: 'bench',
      depth: 0,
      recorded_at_unix_ms: 1_700_000_000_000 + seq,
      payload: { kind: 'tool_ended', tool_call_id: `toolu_${seq}`, tool_name: 'Read', result, is_error: false },
    };
  });
}

/** Seconds to write all bytes, with `batch` lines per sync. */
function raw(count: number, batch: number, bytesOf: (from: number, to: number) => Buffer): number {
  const folder = mkdtempSync(join(parent, '.bench-'));
  const fd = openSync(join(folder, 'raw.jsonl'), 'a', 0o600);
  const start = performance.now();
  for (let at = 0; at < count; at += batch) {
    const group = bytesOf(at, at + batch);
    for (let written = 0; written < group.length;) written += writeSync(fd, group, written);
    fdatasyncSync(fd);
  }
  const seconds = (performance.now() - start) / 1000;
  closeSync(fd);
  rmSync(folder, { recursive: true });
  return seconds;
}

/** Seconds to store all records, with at most `ahead` batches in flight. */
async function stored(all: readonly TrajectoryRecord[], batch: number, ahead: number): Promise<number> {
  const folder = mkdtempSync(join(parent, '.bench-'));
  const store = linesStore(folder);
  const waiting: Promise<unknown>[] = [];
  const start = performance.now();
  for (let at = 0; at < all.length; at += batch) {
    const appends: Promise<number>[] = [];
    const end = Math.min(all.length, at + batch);
    for (let from = at; from < end; from += MAX_BATCH_RECORDS) {
      appends.push(store.append(all.slice(from, Math.min(end, from + MAX_BATCH_RECORDS))));
    }
    waiting.push(Promise.all(appends));
    if (waiting.length >= ahead) await waiting.shift();
  }
  await Promise.all(waiting);
  const seconds = (performance.now() - start) / 1000;
  await store.close();
  rmSync(folder, { recursive: true });
  return seconds;
}

/** The lines that the store writes. */
async function linesOf(all: readonly TrajectoryRecord[]): Promise<readonly Buffer[]> {
  const folder = mkdtempSync(join(parent, '.bench-'));
  const store = linesStore(folder, { fsync: 'none' });
  for (let at = 0; at < all.length; at += MAX_BATCH_RECORDS) await store.append(all.slice(at, at + MAX_BATCH_RECORDS));
  await store.close();
  const run = join(folder, 'run-bench');
  const name = readdirSync(run).find((one) => one.endsWith('.jsonl')) ?? '';
  const text = readFileSync(join(run, name), 'utf8');
  rmSync(folder, { recursive: true });
  return text.match(/.*\n/g)?.map((line) => Buffer.from(line)) ?? [];
}

/** Lines of the store's length, without a computed checksum. */
function textOf(from: number, to: number): Buffer {
  const trailer = ',"line_check":"000000000"}\n';
  return Buffer.from(
    all
      .slice(from, to)
      .map((record) => JSON.stringify(record).slice(0, -1) + trailer)
      .join(''),
  );
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? Number.NaN;
}

const all = records();
const lines = await linesOf(all);
const bytes = lines.reduce((sum, line) => sum + line.length, 0);
console.log(
  `${RECORDS} records, ${Math.round(bytes / RECORDS)} bytes a line, median of ${ROUNDS} rounds, load average ${loadavg()[0]?.toFixed(1)}`,
);
for (const batch of BATCHES) {
  const times = { raw: [] as number[], text: [] as number[], awaited: [] as number[], ahead: [] as number[] };
  for (let round = -1; round < ROUNDS; round += 1) {
    const seconds = {
      raw: raw(RECORDS, batch, (from, to) => Buffer.concat(lines.slice(from, to))),
      text: raw(RECORDS, batch, textOf),
      awaited: await stored(all, batch, 1),
      ahead: await stored(all, batch, 2),
    };
    // The first round warms up.
    if (round < 0) continue;
    times.raw.push(seconds.raw);
    times.text.push(seconds.text);
    times.awaited.push(seconds.awaited);
    times.ahead.push(seconds.ahead);
  }
  const base = median(times.raw);
  const text = median(times.text);
  const show = (seconds: number): string =>
    `${Math.round(RECORDS / seconds / 1000)} k/s (${(base / seconds).toFixed(2)} of raw, ${(text / seconds).toFixed(2)} of text)`;
  console.log(
    `batches of ${batch}: raw ${Math.round(RECORDS / base / 1000)} k/s, text ${Math.round(RECORDS / text / 1000)} k/s, ` +
      `awaited one by one ${show(median(times.awaited))}, two ahead ${show(median(times.ahead))}`,
  );
}
