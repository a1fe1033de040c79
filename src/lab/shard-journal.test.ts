import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { messageOf } from '../core/base/error.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../core/records/trajectory-record.ts';
import { sqliteStore } from '../stores/sqlite/sqlite-store.ts';
import { testFolder } from '../../test/support/test-folder.ts';
import { backtest } from './backtest.ts';

const folder = testFolder();

function record(runId: string, seq: number, payload: TrajectoryPayload): TrajectoryRecord {
  return { schema_version: 1, seq, run_id: runId, depth: 0, recorded_at_unix_ms: 1_000 + seq, payload };
}

function recordsOf(runId: string): readonly TrajectoryRecord[] {
  return [
    record(runId, 0, { kind: 'run_started', identity: { run_id: runId, depth: 0 }, task: 'find the words' }),
    record(runId, 1, { kind: 'tool_started', tool_call_id: 'c', tool_name: 'bash', args: { command: 'ls' } }),
    record(runId, 2, { kind: 'tool_ended', tool_call_id: 'c', tool_name: 'bash', result: 'a b', is_error: false }),
  ];
}

test('a journal is of use although a store that is open has filled its word index, which changes its file', async () => {
  const path = join(folder, 'searched.db');
  const first = sqliteStore(path);
  await first.append(recordsOf('one'));
  await first.close();
  const resume = join(folder, 'journal-searched');
  const whole = await backtest([path], { resume });
  const { mtimeMs } = await stat(path);
  const store = sqliteStore(path);
  expect((await store.search({ text: 'words' })).hits).toHaveLength(1);
  await store.close();
  expect((await stat(path)).mtimeMs).not.toBe(mtimeMs);
  let shards = 0;
  const again = await backtest([path], { resume, onProgress: () => (shards += 1) });
  expect([again, shards]).toEqual([whole, 0]);
});

test('a journal is refused when a run of a store has gone on, or there is a new one', async () => {
  const path = join(folder, 'runs.db');
  const resume = join(folder, 'journal');
  const add = async (records: readonly TrajectoryRecord[]): Promise<void> => {
    const store = sqliteStore(path);
    await store.append(records);
    await store.close();
  };
  const refusal = (): Promise<string> => backtest([path], { resume }).then(() => 'none', messageOf);
  await add(recordsOf('one'));
  expect([await refusal(), await refusal()]).toEqual(['none', 'none']);
  await add([record('one', 3, { kind: 'turn_started' })]);
  expect(await refusal()).toContain('the input has changed');
  const other = join(folder, 'other-journal');
  await backtest([path], { resume: other });
  await add(recordsOf('two'));
  expect(await backtest([path], { resume: other }).then(() => 'none', messageOf)).toContain('the input has changed');
});

test('a file that is no journal is refused as it is, whatever it ends with', async () => {
  const path = join(folder, 'input.jsonl');
  const text = recordsOf('one')
    .map((one) => JSON.stringify(one))
    .join('\n');
  await writeFile(path, text);
  expect(await backtest([path], { resume: path }).then(() => 'none', messageOf)).toContain('not a backtest journal');
  expect(await readFile(path, 'utf8')).toBe(text);
});
