import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import type { TrajectoryPayload, TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { glanceSqlite } from './sqlite-search.ts';
import { sqliteStore } from './sqlite-store.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = testFolder();
  file = join(folder, 'runs.db');
});

async function stored(runId: string, payloads: readonly TrajectoryPayload[], atMs = 1_000): Promise<void> {
  const store = sqliteStore(file);
  const begun: TrajectoryPayload = { kind: 'run_started', identity: { run_id: runId, depth: 0 } };
  const records = [begun, ...payloads].map((payload, seq): TrajectoryRecord => {
    return { schema_version: 1, seq, run_id: runId, depth: 0, recorded_at_unix_ms: atMs + seq, payload };
  });
  for (let at = 0; at < records.length; at += 500) await store.append(records.slice(at, at + 500));
  await store.close();
}

function flag(identity: string): TrajectoryPayload {
  const pattern = {
    kind: 'identical_call',
    identity,
    stuck: true,
    level: 'warn' as const,
    confidence: 1,
    evidence: [],
    firstSeen: 0,
    flaggedAt: 0,
    occurrences: 3,
  };
  return { kind: 'pattern_flagged', pattern, cause_seq: 0, ordinal: 0 };
}

test('of a long run, only deadline and pattern records at its beginning and end are read', async () => {
  const calls = Array.from({ length: 2_500 }, (_, index): TrajectoryPayload => ({
    kind: 'tool_started',
    tool_call_id: `c${index}`,
    tool_name: 'bash',
    args: { command: 'echo "kind":"pattern_flagged"' },
  }));
  const deadline: TrajectoryPayload = { kind: 'deadline_set', deadline_at_unix_ms: 9 };
  await stored('long', [deadline, ...calls.slice(0, 200), flag('long ago'), ...calls, flag('now')]);
  const glance = glanceSqlite(file, 'long');
  expect(glance?.summary.calls).toBe(2_700);
  expect(glance?.records.map(({ payload }) => payload)).toEqual([
    { kind: 'run_started', identity: { run_id: 'long', depth: 0 } },
    deadline,
    flag('now'),
  ]);
});

test('every relevant record of a short run is read once', async () => {
  await stored('short', [flag('a'), { kind: 'turn_started' }, flag('b')]);
  expect(glanceSqlite(file, 'short')?.records.map(({ seq }) => seq)).toEqual([0, 1, 3]);
});

test('the run with the latest record is found; a deleted or unknown run is not', async () => {
  await stored('early', [{ kind: 'turn_started' }], 5_000);
  await stored('late', [], 4_000);
  expect(glanceSqlite(file)?.summary.runId).toBe('early');
  const store = sqliteStore(file);
  await store.deleteRun('early');
  await store.close();
  expect(glanceSqlite(file)?.summary.runId).toBe('late');
  expect(glanceSqlite(file, 'early')).toBeUndefined();
});

test('reading does not change the file', async () => {
  await stored('one', []);
  await chmod(file, 0o400);
  const before = await readFile(file);
  expect(glanceSqlite(file)?.summary.runId).toBe('one');
  expect(await readFile(file)).toEqual(before);
  expect(() => glanceSqlite(join(folder, 'none.db'))).toThrow('unable to open');
});
