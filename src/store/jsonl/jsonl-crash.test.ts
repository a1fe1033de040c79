import { join } from 'node:path';
import { expect, test } from 'vitest';

import { readAll } from '../../testing/read-all.ts';
import { runScript } from '../../../test/support/run-script.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { openJsonlReader } from './jsonl-reader.ts';

/** Times a writer is killed; 200 was run for each release. */
const ROUNDS = Number(process.env['COXSWAIN_ROUNDS'] ?? 24);

/** Rounds on one folder, one after the other: each takes over the locks and the torn ends of the one before. */
const LANES = 2;

const RUNS = ['a', 'b', 'c'] as const;

/** Appends to three runs at once until it is killed, and prints each answer once it has it. */
const WRITER = `
  import { writeSync } from 'node:fs';
  import { openJsonlReader } from ${JSON.stringify(new URL('./jsonl-reader.ts', import.meta.url).href)};
  import { jsonlSink } from ${JSON.stringify(new URL('./jsonl-sink.ts', import.meta.url).href)};
  const [, folder, fsync] = process.argv;
  const store = jsonlSink(folder, { fsync });
  const reader = openJsonlReader(folder);
  const record = (runId, seq) => ({ schema_version: 1, seq, run_id: runId, depth: 0, recorded_at_unix_ms: 1 + seq,
    payload: { kind: 'compaction', trigger: (runId + ' ' + seq + ' é ').repeat(1 + (seq % 40)) } });
  const tell = (runId, seq) => {
    // The reader may be slower than the writer, and the pipe full.
    for (;;) {
      try {
        return writeSync(1, runId + ' ' + seq + '\\n');
      } catch (thrown) {
        if (thrown.code !== 'EAGAIN') throw thrown;
      }
    }
  };
  async function appends(runId) {
    for (let seq = ((await reader.findRun(runId))?.lastSeq ?? -1) + 1; ; ) {
      const count = 1 + (seq * 7) % 23;
      const work = [];
      for (let index = 0; index < 3; index += 1, seq += count) {
        const batch = Array.from({ length: count }, (_, at) => record(runId, seq + at));
        work.push(store.append(batch).then((last) => tell(runId, last)));
      }
      await Promise.all(work);
    }
  }
  await Promise.all(['a', 'b', 'c'].map(appends));`;

test(
  `after SIGKILL at ${ROUNDS} random moments every acknowledged record is there, gapless, none torn`,
  async () => {
    const folder = testFolder();
    const counts = await Promise.all(Array.from({ length: LANES }, (_, lane) => runLane(folder, lane)));
    const acknowledged = counts.reduce((sum, count) => sum + count, 0);
    process.stdout.write(
      `SIGKILL of writers of JSON lines: ${ROUNDS} rounds, ${acknowledged} acknowledged appends, none lost\n`,
    );
    expect(acknowledged).toBeGreaterThan(ROUNDS);
  },
  ROUNDS * 60_000,
);

/** Answers how many appends were acknowledged. */
async function runLane(parent: string, lane: number): Promise<number> {
  let acknowledged = 0;
  for (let round = lane; round < ROUNDS; round += LANES) {
    // A folder serves five rounds, so that the cost of checking it stays the same.
    const folder = join(parent, `lane-${lane}-${Math.floor(round / (LANES * 5))}`);
    acknowledged += await killAndCheck(folder, round % 3 === 0 ? 'each' : 'group');
  }
  return acknowledged;
}

async function killAndCheck(folder: string, fsync: string): Promise<number> {
  const { child, ended } = runScript(WRITER, [folder, fsync]);
  child.stdout?.once('data', () => setTimeout(() => child.kill('SIGKILL'), Math.random() * 40));
  const { signal, stderr, stdout } = await ended;
  expect([signal, stderr]).toEqual(['SIGKILL', '']);
  let acknowledged = 0;
  const store = openJsonlReader(folder);
  for (const runId of RUNS) {
    const ownLines = stdout.split('\n').filter((line) => line.startsWith(`${runId} `));
    const lastSeq = Math.max(-1, ...ownLines.map((line) => Number(line.slice(2))));
    const records = await readAll(store, runId);
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index));
    expect(records.length).toBeGreaterThan(lastSeq);
    for (const { seq, payload } of records) {
      expect(payload).toEqual({ kind: 'compaction', trigger: `${runId} ${seq} é `.repeat(1 + (seq % 40)) });
    }
    acknowledged += ownLines.length;
  }
  for (const { problem } of await Array.fromAsync(store.verify())) expect(problem).toContain('torn');
  return acknowledged;
}
