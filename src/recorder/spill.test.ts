import * as fc from 'fast-check';
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { CoxswainError } from '../base/error.ts';
import { encodeRecord } from '../records/encode-record.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { lastSeqOf } from '../store/run-summary.ts';
import type { TrajectoryStore } from '../store/trajectory-store.ts';
import { createFakeTimers, type FakeTimers } from '../../test/support/fake-timers.ts';
import { readAll } from '../testing/read-all.ts';
import { scriptCalls, scriptRecord } from '../testing/record-script.ts';
import { testFolder } from '../../test/support/test-folder.ts';
import type { RecordQueueOptions } from './record-queue-options.ts';
import { RecordQueue } from './record-queue.ts';
import { recoverSpills } from './recover-spills.ts';

let folder: string;
beforeEach(() => void (folder = testFolder()));

interface Setup {
  readonly store: TrajectoryStore;
  readonly queue: RecordQueue;
  readonly timers: FakeTimers;
  isBroken: boolean;
}

function setUp(options: RecordQueueOptions = {}, spillFolder = folder): Setup {
  const store = memoryStore();
  const timers = createFakeTimers();
  const self = { isBroken: false };
  const sink = {
    append: (batch: readonly TrajectoryRecord[]): Promise<number> =>
      self.isBroken ? Promise.reject(new CoxswainError('store-io', 'no space left')) : store.append(batch),
    flush: () => store.flush(),
    close: () => store.close(),
  };
  const queue = new RecordQueue(sink, { overflow: 'spill', maxQueued: 10, spillFolder, timers, ...options });
  return Object.assign(self, { store, queue, timers });
}

/** Lets files be written and read, which takes real time. */
async function until(isDone: () => boolean): Promise<void> {
  await expect.poll(isDone).toBe(true);
}

test('records beyond the limit go to a file for the owner only and are stored in order when the sink is back', async () => {
  const setup = setUp();
  setup.isBroken = true;
  const records = scriptCalls('a', 2_000);
  for (const record of records) expect(setup.queue.add(record)).toBe('accepted');
  await until(() => readdirSync(folder).length === 1);
  const [name = ''] = readdirSync(folder);
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(setup.queue.health()).toMatchObject({ queued: 10, dropped: 0, spill: { records: 1_990 } });
  expect(JSON.parse(JSON.stringify(setup.queue.health()))).toEqual(setup.queue.health());
  setup.isBroken = false;
  expect(await setup.queue.flush()).toBe('stored');
  expect(await readAll(setup.store, 'a')).toEqual(records);
  await until(() => readdirSync(folder).length === 0);
  expect(setup.queue.health().spill).toBeUndefined();
});

test('a full file accepts no more, and a gap replaces the lost records', async () => {
  const setup = setUp({ maxSpillBytes: 2_000 });
  setup.isBroken = true;
  const answers = scriptCalls('a', 60).map((record) => setup.queue.add(record));
  const accepted = answers.filter((answer) => answer === 'accepted').length;
  expect(accepted).toBeGreaterThan(12);
  expect(accepted).toBeLessThan(30);
  setup.isBroken = false;
  expect(await setup.queue.flush()).toBe('incomplete');
  setup.queue.add(scriptCalls('a', 1, 60)[0] ?? scriptRecord({ runId: 'a', seq: 60 }));
  expect(await setup.queue.flush()).toBe('stored');
  const stored = await readAll(setup.store, 'a');
  expect(stored.map((record) => record.payload.kind === 'gap')).toEqual(
    Array.from({ length: accepted + 2 }, (_, index) => index === accepted),
  );
  expect(setup.queue.health().dropped).toBe(60 - accepted);
});

test('without a spill folder the records are lost, counted and recorded as a gap', async () => {
  const file = join(folder, 'a-file');
  writeFileSync(file, '');
  const setup = setUp({}, join(file, 'below'));
  setup.isBroken = true;
  for (const record of scriptCalls('a', 30)) setup.queue.add(record);
  await until(() => setup.queue.health().dropped === 20);
  setup.isBroken = false;
  await setup.queue.flush();
  await setup.queue.flush();
  expect((await readAll(setup.store, 'a')).at(-1)?.payload).toMatchObject({ kind: 'gap', through_seq: 29 });
});

test('several spilled runs lose nothing and stay in order while the sink fails and recovers', async () => {
  const step = fc.oneof(
    { weight: 8, arbitrary: fc.record({ add: fc.nat({ max: 2 }), count: fc.integer({ min: 1, max: 9 }) }) },
    fc.record({ isBroken: fc.boolean() }),
    fc.record({ waitMs: fc.constant(200) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const setup = setUp({ maxQueued: 6 });
      const counts = [0, 0, 0];
      const answers = new Set(['accepted']);
      for (const action of steps) {
        if ('isBroken' in action) setup.isBroken = action.isBroken;
        else if ('waitMs' in action) await setup.timers.advance(action.waitMs);
        else {
          const from = counts[action.add] ?? 0;
          for (const record of scriptCalls(`run-${action.add}`, action.count, from)) {
            answers.add(setup.queue.add(record));
          }
          counts[action.add] = from + action.count;
        }
      }
      setup.isBroken = false;
      expect(await setup.queue.flush()).toBe('stored');
      expect([...answers]).toEqual(['accepted']);
      for (const [run, count] of counts.entries()) {
        expect(await readAll(setup.store, `run-${run}`)).toEqual(scriptCalls(`run-${run}`, count));
      }
      await setup.queue.close();
    }),
    { numRuns: 60 },
  );
});

test('the spill file of a process that has exited is stored at the next start', async () => {
  const exitedPid = spawnSync(process.execPath, ['-e', '']).pid;
  const spillPath = join(folder, `coxswain-spill-${exitedPid}-0123abcd-1.jsonl`);
  const lines = [...scriptCalls('a', 700, 3), ...scriptCalls('b', 2), ...scriptCalls('taken', 2)].map(encodeRecord);
  writeFileSync(spillPath, lines.map((line) => `${line}\n`).join(''));
  appendFileSync(spillPath, '{"schema_version":1,"seq":703,"run');
  writeFileSync(join(folder, 'notes.txt'), 'of somebody else');
  const { store } = setUp({ overflow: 'drop-newest' });
  await store.append([scriptRecord({ runId: 'taken', seq: 0 })]);
  const queue = new RecordQueue(store, { overflow: 'spill', spillFolder: folder });
  queue.add(scriptRecord({ runId: 'c', seq: 0 }));
  expect(await queue.flush()).toBe('stored');
  expect(queue.health().recovered).toEqual({ files: 1, records: 702, refused: 3 });
  const [gap, ...records] = await readAll(store, 'a');
  expect(gap?.payload).toEqual({ kind: 'gap', through_seq: 2, reason: 'lost in a crash' });
  expect(records).toEqual(scriptCalls('a', 700, 3));
  expect(await readAll(store, 'b')).toHaveLength(2);
  expect(lastSeqOf((await readAll(store, 'c'))[0] ?? scriptRecord({ runId: 'c', seq: 9 }))).toBe(0);
  expect(readdirSync(folder)).toEqual(['notes.txt']);
});

test('the file of a running process is left alone, and so is one that the sink cannot store now', async () => {
  const parentSpillPath = join(folder, `coxswain-spill-${process.ppid}-0123abcd-1.jsonl`);
  writeFileSync(parentSpillPath, `${scriptCalls('a', 1).map(encodeRecord).join('')}\n`);
  const store = memoryStore();
  expect(await recoverSpills(folder, store)).toEqual({ files: 0, records: 0, refused: 0 });
  expect(existsSync(parentSpillPath)).toBe(true);
  const ownSpillPath = join(folder, `coxswain-spill-${process.pid}-0123abcd-1.jsonl`);
  writeFileSync(ownSpillPath, `${scriptCalls('a', 1).map(encodeRecord).join('')}\n`);
  const failingSink = { ...store, append: () => Promise.reject(new CoxswainError('store-io', 'no space left')) };
  await expect(recoverSpills(folder, failingSink)).rejects.toMatchObject({ code: 'store-io' });
  expect(existsSync(ownSpillPath)).toBe(true);
  expect(await recoverSpills(folder, store)).toEqual({ files: 1, records: 1, refused: 0 });
  expect(await recoverSpills(join(folder, 'not-there'), store)).toEqual({ files: 0, records: 0, refused: 0 });
});

test('a record with Unicode line separators is recovered', async () => {
  const payload = { kind: 'compaction', trigger: 'one\u2028two\u2029three\u0085four' } as const;
  const record = scriptRecord({ runId: 'a', seq: 0, payload });
  writeFileSync(join(folder, `coxswain-spill-${process.pid}-0123abcd-1.jsonl`), `${encodeRecord(record)}\n`);
  const store = memoryStore();
  expect(await recoverSpills(folder, store)).toEqual({ files: 1, records: 1, refused: 0 });
  expect(await readAll(store, 'a')).toEqual([record]);
});
