import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';

import { rounds } from '../../../test/support/rounds.ts';
import { listAll, readAll, scriptCalls } from '../../../test/support/script-records.ts';
import { runScript } from '../../../test/support/run-script.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { sqliteStore } from './sqlite-store.ts';
import { HANGS_AFTER_MS } from '../../../test/support/hangs-after.ts';
import { builtModule } from '../../../test/support/built-module.ts';

const STORE = builtModule('stores/sqlite/sqlite-store');

/** Appends one record after another, as long-lived writers do. */
const WRITER = `
  import { sqliteStore } from ${JSON.stringify(STORE)};
  const [, file, runId, count] = process.argv;
  const store = sqliteStore(file, { timeoutMs: ${HANGS_AFTER_MS} });
  const trigger = 'word '.repeat(180);
  for (let seq = 0; seq < Number(count); seq += 1) {
    await store.append([{ schema_version: 1, seq, run_id: runId, depth: 0, recorded_at_unix_ms: seq, payload: { kind: 'compaction', trigger } }]);
  }
  await store.close();`;

/** A process that adds one record by a transaction, as a hook does, \`count\` times. */
const HOOK = `
  import { sqliteStore } from ${JSON.stringify(STORE)};
  const [, file, count] = process.argv;
  const store = sqliteStore(file, { timeoutMs: ${HANGS_AFTER_MS} });
  for (let round = 0; round < Number(count); round += 1) {
    await store.transact('shared', (view) => {
      const missed = view.missed().length;
      const seen = Number(view.snapshot ?? 0) + missed;
      if (seen !== view.nextSeq) throw new Error('saw ' + seen + ' of ' + view.nextSeq);
      const id = 'call-' + view.nextSeq;
      const record = { schema_version: 1, seq: view.nextSeq, run_id: 'shared', depth: 0, recorded_at_unix_ms: 1000 + view.nextSeq,
        payload: { kind: 'tool_started', tool_call_id: id, tool_name: 'read', args: { path: id + '.txt' } } };
      return { records: [record], result: 0, ...(round % 3 > 0 && { snapshot: seen + 1 }) };
    });
  }
  await store.close();`;

async function newFile(): Promise<string> {
  const folder = testFolder();
  return join(folder, 'runs.db');
}

const APPENDS = rounds({ full: 2_000, short: 100 });

test(`8 processes append ${APPENDS} records each to one file without an error or a loss`, async () => {
  const file = await newFile();
  const writers = Array.from({ length: 8 }, (_, index) => runScript(WRITER, [file, `run-${index}`, String(APPENDS)]));
  const ends = await Promise.all(writers.map(({ ended }) => ended));
  expect(ends.map(({ stderr }) => stderr)).toEqual(ends.map(() => ''));
  const store = sqliteStore(file);
  const runs = await listAll(store);
  expect(runs.map(({ records, lastSeq }) => [records, lastSeq])).toEqual(ends.map(() => [APPENDS, APPENDS - 1]));
  for (const { runId } of runs) {
    expect((await readAll(store, runId)).every((record, index) => record.seq === index)).toBe(true);
  }
  await store.close();
});

test('processes that share a run through transactions see every record once', async () => {
  const file = await newFile();
  const hooks = Array.from({ length: 4 }, () => runScript(HOOK, [file, '25']));
  const ends = await Promise.all(hooks.map(({ ended }) => ended));
  expect(ends.map(({ stderr }) => stderr)).toEqual(ends.map(() => ''));
  const store = sqliteStore(file);
  expect(await readAll(store, 'shared')).toEqual(scriptCalls('shared', 100));
  await store.close();
});

test('waiting for another process does not block the event loop, and the write succeeds once the lock is released', async () => {
  const file = await newFile();
  const store = sqliteStore(file, { timeoutMs: HANGS_AFTER_MS });
  const other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  const appended = store.append(scriptCalls('a', 3));
  const transacted = store.transact('a', (view) => ({ records: [], result: view.nextSeq }));
  let turns = 0;
  const ticking = setInterval(() => (turns += 1), 5);
  expect(await store.findRun('a')).toBeUndefined();
  await expect.poll(() => turns).toBeGreaterThan(20);
  clearInterval(ticking);
  other.exec('ROLLBACK');
  other.close();
  expect(await Promise.all([appended, transacted])).toEqual([2, 3]);
  await store.close();
});
