import { join } from 'node:path';
import { expect, test } from 'vitest';

import { rounds } from '../../../test/support/rounds.ts';
import { readAll } from '../../../test/support/script-records.ts';
import { runScript } from '../../../test/support/run-script.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { sqliteStore } from './sqlite-store.ts';
import type { TrajectoryStore } from '../../core/store/trajectory-store.ts';
import { HANGS_AFTER_MS } from '../../../test/support/hangs-after.ts';
import { builtModule } from '../../../test/support/built-module.ts';

/** Times a writer is killed; 200 was run for each release. */
const ROUNDS = rounds({ full: 30, short: 5 });

/** Writers of one file at a time. */
const LANES = 2;

/** Appends and transacts on three runs at once until it is killed, and prints each answer once it has it. */
const WRITER = `
  import { writeSync } from 'node:fs';
  import { sqliteStore } from ${JSON.stringify(builtModule('stores/sqlite/sqlite-store'))};
  const [, file, prefix] = process.argv;
  const store = sqliteStore(file, { timeoutMs: ${HANGS_AFTER_MS} });
  const record = (runId, seq) => ({ schema_version: 1, seq, run_id: runId, depth: 0, recorded_at_unix_ms: 1 + seq,
    payload: { kind: 'compaction', trigger: (runId + ' ' + seq + ' ').repeat(1 + (seq % 40)) } });
  async function appends(runId) {
    for (let seq = 0; ; ) {
      const count = 1 + (seq * 7) % 23;
      const last = await store.append(Array.from({ length: count }, (_, index) => record(runId, seq + index)));
      writeSync(1, runId + ' ' + last + '\\n');
      seq += count;
    }
  }
  async function transacts(runId) {
    for (;;) {
      const last = await store.transact(runId, ({ nextSeq }) => ({
        records: [record(runId, nextSeq), record(runId, nextSeq + 1)], snapshot: nextSeq + 1, result: nextSeq + 1 }));
      writeSync(1, runId + ' ' + last + '\\n');
    }
  }
  await Promise.all([appends(prefix + 'a'), appends(prefix + 'b'), transacts(prefix + 'c')]);`;

test(
  `after SIGKILL at ${ROUNDS} random moments every acknowledged record is there, gapless, none torn`,
  async () => {
    const folder = testFolder();
    const counts = await Promise.all(
      Array.from({ length: LANES }, (_, lane) => runLane(join(folder, `lane-${lane}.db`), lane)),
    );
    const acknowledged = counts.reduce((sum, count) => sum + count, 0);
    process.stdout.write(
      `SIGKILL of SQLite writers: ${ROUNDS} rounds, ${acknowledged} acknowledged records, none lost\n`,
    );
    expect(acknowledged).toBeGreaterThan(ROUNDS);
  },
  ROUNDS * 60_000,
);

async function runLane(file: string, lane: number): Promise<number> {
  let acknowledged = 0;
  for (let round = lane; round < ROUNDS; round += LANES) {
    acknowledged += await checkRuns(file, await killedWriter(file, `${round}-`));
  }
  const store = sqliteStore(file);
  expect(await Array.fromAsync(store.verify())).toEqual([]);
  await store.close();
  return acknowledged;
}

/** Kills a writer a random moment after its first answer; gives the last `seq` acknowledged for each run. */
async function killedWriter(file: string, prefix: string): Promise<ReadonlyMap<string, number>> {
  const { child, ended } = runScript(WRITER, [file, prefix]);
  child.stdout?.once('data', () => setTimeout(() => child.kill('SIGKILL'), Math.random() * 30));
  const { signal, stderr, stdout } = await ended;
  expect([signal, stderr]).toEqual(['SIGKILL', '']);
  const lines = stdout.split('\n').slice(0, -1);
  return new Map(lines.map((line) => [line.split(' ')[0] ?? '', Number(line.split(' ')[1])]));
}

async function checkRuns(file: string, lastSeqs: ReadonlyMap<string, number>): Promise<number> {
  const store = sqliteStore(file);
  let acknowledged = 0;
  for (const [runId, lastSeq] of lastSeqs) {
    acknowledged += lastSeq + 1;
    await checkRun(store, runId, lastSeq);
  }
  await store.close();
  return acknowledged;
}

async function checkRun(store: TrajectoryStore, runId: string, acknowledgedSeq: number): Promise<void> {
  const records = await readAll(store, runId);
  expect(records.length).toBeGreaterThan(acknowledgedSeq);
  expect(await store.findRun(runId)).toMatchObject({ records: records.length, lastSeq: records.length - 1 });
  for (const [index, { payload, seq }] of records.entries()) {
    const trigger = `${runId} ${index} `.repeat(1 + (index % 40));
    expect([seq, payload]).toEqual([index, { kind: 'compaction', trigger }]);
  }
  await store.transact(runId, ({ nextSeq, snapshot, snapshotSeq }) => {
    // A transaction is atomic: its snapshot covers its records.
    expect(snapshot ?? -1).toBe(snapshotSeq);
    expect(snapshotSeq).toBe(runId.endsWith('c') ? nextSeq - 1 : -1);
    return { records: [], result: undefined };
  });
}
