import * as fc from 'fast-check';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readFaults } from '../node/fault-log.ts';
import { projectFolderOf } from '../node/git-folder.ts';
import { CoxswainError, type CoxswainErrorCode } from '../base/error.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { memoryStore } from '../store/memory-store.ts';
import { lastSeqOf } from '../facts/run-summary.ts';
import type { TrajectorySink, TrajectoryStore } from '../store/trajectory-store.ts';
import { createFakeTimers, type FakeTimers } from '../../../test/support/fake-timers.ts';
import { readAll, scriptRecord } from '../../../test/support/script-records.ts';
import type { RecordQueueOptions } from './record-queue-options.ts';
import { RecordQueue } from './record-queue.ts';

function recordOf(seq: number, runId = 'run'): TrajectoryRecord {
  return scriptRecord({ runId, seq });
}

/** A store in memory that refuses while `fault` is set, and counts the appends. */
interface BreakableSink {
  readonly store: TrajectoryStore;
  readonly sink: TrajectorySink;
  fault: CoxswainErrorCode | undefined;
  appends: number;
}

function createBreakableSink(): BreakableSink {
  const store = memoryStore();
  const self: BreakableSink = {
    store,
    fault: undefined,
    appends: 0,
    sink: {
      append: async (batch) => {
        self.appends += 1;
        if (self.fault !== undefined) throw new CoxswainError(self.fault, 'no space left');
        return store.append(batch);
      },
      flush: () => store.flush(),
      close: () => store.close(),
    },
  };
  return self;
}

interface Setup extends BreakableSink {
  readonly queue: RecordQueue;
  readonly timers: FakeTimers;
  readonly stored: (runId?: string) => Promise<readonly TrajectoryRecord[]>;
}

function setUp(options: RecordQueueOptions = {}): Setup {
  const timers = createFakeTimers();
  const breakableSink = createBreakableSink();
  const queue = new RecordQueue(breakableSink.sink, { timers, random: () => 0, ...options });
  return Object.assign(breakableSink, {
    queue,
    timers,
    stored: (runId = 'run') => readAll(breakableSink.store, runId),
  });
}

test('everything added is in the sink in order after a flush', async () => {
  const { queue, stored } = setUp();
  for (let seq = 0; seq < 1_700; seq += 1) expect(queue.add(recordOf(seq))).toBe('accepted');
  expect(await queue.flush()).toBe('stored');
  expect((await stored()).map((record) => record.seq)).toEqual(Array.from({ length: 1_700 }, (_, seq) => seq));
  expect(queue.health()).toMatchObject({ queued: 0, queuedBytes: 0, written: 1_700, dropped: 0, faults: 0 });
  expect(queue.health().lastRecordAtMs).toBe(2_699);
  expect(queue.durableSeq('run')).toBe(1_699);
});

test('a record is written without a flush, after the turn in which it was added', async () => {
  const { queue, timers, appends, stored } = setUp();
  queue.add(recordOf(0));
  await Promise.resolve();
  expect(appends).toBe(0);
  await timers.advance(0);
  expect(await stored()).toHaveLength(1);
});

test('records that do not fit into the queue are dropped, counted and replaced by a gap', async () => {
  const { queue, stored } = setUp({ maxQueued: 2 });
  expect([0, 1, 2, 3].map((seq) => queue.add(recordOf(seq)))).toEqual(['accepted', 'accepted', 'dropped', 'dropped']);
  expect(await queue.flush()).toBe('incomplete');
  queue.add(recordOf(4));
  expect(await queue.flush()).toBe('stored');
  expect((await stored()).map((record) => record.payload)).toEqual([
    { kind: 'turn_started' },
    { kind: 'turn_started' },
    { kind: 'gap', through_seq: 3, reason: 'queue full' },
    { kind: 'turn_started' },
  ]);
  expect(queue.health().dropped).toBe(2);
});

test('the queue has a limit in bytes too, and a record above the limit is queued alone', async () => {
  const { queue, stored } = setUp({ maxQueuedBytes: 10_000 });
  const recordOfSize = (seq: number, chars: number): TrajectoryRecord =>
    scriptRecord({ runId: 'run', seq, payload: { kind: 'compaction', trigger: 'x'.repeat(chars) } });
  expect([0, 1, 2].map((seq) => queue.add(recordOfSize(seq, 4_000)))).toEqual(['accepted', 'accepted', 'dropped']);
  expect(queue.health().queuedBytes).toBeGreaterThan(8_000);
  await queue.flush();
  expect(queue.add(recordOfSize(3, 50_000))).toBe('accepted');
  expect(queue.add(recordOfSize(4, 1))).toBe('dropped');
  await queue.flush();
  expect((await stored()).map((record) => record.payload.kind)).toEqual([
    'compaction',
    'compaction',
    'gap',
    'compaction',
    'gap',
  ]);
});

test('a store that fails for a minute and recovers has every record', async () => {
  const setup = setUp();
  const { queue, timers, stored } = setup;
  setup.fault = 'store-io';
  let seq = 0;
  for (; seq < 600; seq += 1) {
    expect(queue.add(recordOf(seq))).toBe('accepted');
    await timers.advance(100);
  }
  expect(queue.health()).toMatchObject({ queued: 600, dropped: 0, failingRuns: 1, lastFault: 'no space left' });
  expect(queue.health().failingForMs).toBeGreaterThan(59_000);
  // Pauses double from 50 ms to 5 s: about 6 tries on the way, then 12 a minute.
  expect(setup.appends).toBeLessThan(22);
  setup.fault = undefined;
  await timers.advance(5_000);
  expect((await stored()).map((record) => record.seq)).toEqual(Array.from({ length: seq }, (_, index) => index));
  expect(queue.health()).toMatchObject({ queued: 0, written: 600, dropped: 0, failingRuns: 0, failingForMs: 0 });
  expect(await queue.flush()).toBe('stored');
});

test('a flush retries at once instead of waiting for the pause', async () => {
  const setup = setUp();
  setup.fault = 'store-io';
  setup.queue.add(recordOf(0));
  await setup.timers.advance(20_000);
  setup.fault = undefined;
  expect(await setup.queue.flush()).toBe('stored');
});

test('a flush ends at its limit, and the remaining records keep waiting', async () => {
  const setup = setUp();
  setup.fault = 'store-io';
  setup.queue.add(recordOf(0));
  let flushAnswer: string | undefined;
  void setup.queue.flush({ timeLimitMs: 300 }).then((result) => (flushAnswer = result));
  await setup.timers.advance(299);
  expect(flushAnswer).toBeUndefined();
  await setup.timers.advance(2);
  expect(flushAnswer).toBe('incomplete');
  setup.fault = undefined;
  await setup.timers.advance(5_000);
  expect(await setup.stored()).toHaveLength(1);
});

test('a sink that never responds does not delay a flush beyond its limit', async () => {
  const timers = createFakeTimers();
  const neverResolves = (): Promise<never> => new Promise(() => undefined);
  const queue = new RecordQueue({ append: neverResolves, flush: neverResolves, close: neverResolves }, { timers });
  queue.add(recordOf(0));
  const flushing = queue.flush();
  await timers.advance(5_000);
  expect(await flushing).toBe('incomplete');
});

test('after a flush that ran out of time, the next ones wait a fifth of it, unless they name a limit', async () => {
  const timers = createFakeTimers();
  const neverResolves = (): Promise<never> => new Promise(() => undefined);
  const queue = new RecordQueue({ append: neverResolves, flush: neverResolves, close: neverResolves }, { timers });
  queue.add(recordOf(0));
  const durationOf = async (ended: Promise<unknown>): Promise<number> => {
    const state = { isDone: false };
    void ended.then(() => (state.isDone = true));
    let passedMs = 0;
    for (; !state.isDone; passedMs += 100) await timers.advance(100);
    return passedMs;
  };
  expect(await durationOf(queue.flush({ timeLimitMs: 100 }))).toBe(100);
  expect(await durationOf(queue.flush())).toBe(5_000);
  expect(await durationOf(queue.flush())).toBe(1_000);
  expect(await durationOf(queue.flush({ timeLimitMs: 2_000 }))).toBe(2_000);
  expect(await durationOf(queue.close())).toBe(1_000);
});

test('a flush waits again after the sink has stored something', async () => {
  const setup = setUp();
  setup.fault = 'store-io';
  setup.queue.add(recordOf(0));
  const flushing = setup.queue.flush();
  await setup.timers.advance(5_000);
  expect(await flushing).toBe('incomplete');
  setup.fault = undefined;
  await setup.timers.advance(5_000);
  setup.fault = 'store-io';
  setup.queue.add(recordOf(1));
  let isDone = false;
  const again = setup.queue.flush().then(() => (isDone = true));
  await setup.timers.advance(4_000);
  expect(isDone).toBe(false);
  await setup.timers.advance(1_000);
  await again;
});

test('after the retry time, records are replaced by one gap, which is stored when the sink recovers', async () => {
  const setup = setUp({ retryForMs: 30_000 });
  const { queue, timers, stored } = setup;
  queue.add(recordOf(0));
  await queue.flush();
  setup.fault = 'store-io';
  for (const seq of [1, 2]) queue.add(recordOf(seq));
  await timers.advance(40_000);
  expect(queue.health()).toMatchObject({ queued: 0, dropped: 2 });
  const attempts = setup.appends;
  await timers.advance(60_000);
  expect(setup.appends).toBe(attempts);
  setup.fault = undefined;
  expect(await queue.flush()).toBe('incomplete');
  expect((await stored())[1]?.payload).toEqual({ kind: 'gap', through_seq: 2, reason: 'no space left' });
  queue.add(recordOf(3));
  expect(await queue.flush()).toBe('stored');
  expect(await stored()).toHaveLength(3);
});

test('a run whose id the store has with other records is refused at once and does not delay another run', async () => {
  const { queue, store, stored } = setUp();
  await store.append([{ ...recordOf(0, 'taken'), recorded_at_unix_ms: 5 }]);
  queue.add(recordOf(0, 'taken'));
  queue.add(recordOf(0, 'free'));
  expect(await queue.flush()).toBe('incomplete');
  expect(await stored('free')).toHaveLength(1);
  expect(queue.health()).toMatchObject({ written: 1, dropped: 1, faults: 1, retries: 0, refusedRuns: 1 });
  expect(queue.add(recordOf(1, 'taken'))).toBe('dropped');
});

test('a record that cannot be stored is the only one of its batch that is lost', async () => {
  const { queue, stored } = setUp();
  for (let seq = 0; seq < 300; seq += 1) {
    const fields = seq === 137 ? { recorded_at_unix_ms: Number.NaN } : {};
    queue.add({ ...recordOf(seq), ...fields });
  }
  expect(await queue.flush()).toBe('incomplete');
  const records = await stored();
  expect(records).toHaveLength(300);
  expect(records[137]?.payload).toMatchObject({ kind: 'gap', through_seq: 137 });
  expect(queue.health()).toMatchObject({ written: 299, dropped: 1, queued: 0 });
});

test('after any number of refused appends only their records are lost, and recording goes on', async () => {
  const setup = setUp();
  setup.fault = 'trajectory-rejected';
  for (let seq = 0; seq < 5; seq += 1) {
    setup.queue.add(recordOf(seq));
    expect(await setup.queue.flush()).toBe('incomplete');
  }
  setup.fault = undefined;
  setup.queue.add(recordOf(5));
  await setup.queue.flush();
  const records = await setup.stored();
  expect(records.map(({ seq, payload }) => [seq, payload.kind === 'gap'])).toEqual([
    [0, true],
    [5, false],
  ]);
  expect(setup.queue.health()).toMatchObject({ written: 1, dropped: 5, refusedRuns: 0 });
  expect(setup.queue.lostRecords(records[1]?.run_id ?? '')).toBe(5);
});

test('records of a run whose id no store accepts are lost instead of retried forever', async () => {
  const { queue } = setUp();
  for (let seq = 0; seq < 40; seq += 1) queue.add(recordOf(seq, 'a\ud800'));
  expect(await queue.flush()).toBe('incomplete');
  expect(queue.health()).toMatchObject({ written: 0, dropped: 40, queued: 0, retries: 0 });
});

test('records that a store has lost become a gap, and the run continues', async () => {
  const { queue, stored } = setUp();
  for (const seq of [7, 8]) queue.add(recordOf(seq));
  await queue.flush();
  expect((await stored()).map((record) => [record.seq, record.payload.kind])).toEqual([
    [0, 'gap'],
    [7, 'turn_started'],
    [8, 'turn_started'],
  ]);
});

test('under the policy "throw", a flush throws for lost and waiting records, with the cause', async () => {
  const setup = setUp({ onFailure: 'throw', flushTimeLimitMs: 200, retryForMs: 1_000 });
  setup.fault = 'store-io';
  setup.queue.add(recordOf(0));
  const [flushResult] = await Promise.allSettled([setup.queue.flush(), setup.timers.advance(200)]);
  expect(flushResult).toMatchObject({
    reason: { code: 'trajectory-io', details: { lost: 0, waiting: 1 }, cause: { message: 'no space left' } },
  });
  await setup.timers.advance(6_000);
  setup.fault = undefined;
  await expect(setup.queue.flush()).rejects.toMatchObject({ code: 'trajectory-io', details: { lost: 1, waiting: 0 } });
  await expect(setup.queue.flush()).resolves.toBe('stored');
});

test('under the policy "throw", records that the sink refuses are a rejection', async () => {
  const setup = setUp({ onFailure: 'throw' });
  setup.fault = 'store-conflict';
  setup.queue.add(recordOf(0));
  await expect(setup.queue.flush()).rejects.toMatchObject({ code: 'trajectory-rejected', details: { lost: 1 } });
});

test('a fault that a retry fixes does not throw', async () => {
  const setup = setUp({ onFailure: 'throw' });
  setup.fault = 'store-io';
  setup.queue.add(recordOf(0));
  await setup.timers.advance(10);
  setup.fault = undefined;
  await setup.timers.advance(50);
  await expect(setup.queue.flush()).resolves.toBe('stored');
});

test('under the policy "wait", ready waits for room up to its limit, and then not again', async () => {
  const setup = setUp({ overflow: 'wait', maxQueued: 4, readyTimeLimitMs: 1_000 });
  const { queue, timers } = setup;
  expect(await queue.ready()).toBe(true);
  setup.fault = 'store-io';
  for (let seq = 0; seq < 4; seq += 1) queue.add(recordOf(seq));
  const lateReady = queue.ready();
  await timers.advance(1_000);
  expect(await lateReady).toBe(false);
  expect(await queue.ready()).toBe(false);
  setup.fault = undefined;
  await timers.advance(5_000);
  expect(await queue.ready()).toBe(true);
  setup.fault = 'store-io';
  for (let seq = 4; seq < 8; seq += 1) queue.add(recordOf(seq));
  const readyInTime = queue.ready();
  await timers.advance(100);
  setup.fault = undefined;
  await timers.advance(500);
  expect(await readyInTime).toBe(true);
  expect(queue.health().dropped).toBe(0);
});

test('close counts records that could not be stored as lost', async () => {
  const setup = setUp();
  setup.fault = 'store-io';
  setup.queue.add(recordOf(0));
  const closing = setup.queue.close({ timeLimitMs: 100 });
  await setup.timers.advance(100);
  expect(await closing).toBe('incomplete');
  expect(setup.queue.health()).toMatchObject({ queued: 0, dropped: 1 });
});

test('a limit out of range is refused', () => {
  expect(() => setUp({ maxQueued: 0 })).toThrow(/maxQueued must be at least 1, got 0/);
  expect(() => setUp({ retryForMs: Number.NaN })).toThrow(/retryForMs/);
});

test('health is plain JSON', async () => {
  const setup = setUp();
  setup.fault = 'store-io';
  setup.queue.add(recordOf(0));
  await setup.timers.advance(1);
  const health = setup.queue.health();
  expect(JSON.parse(JSON.stringify(health))).toEqual(health);
});

test('for any sequence of failures and flushes, every run is stored without a hole and every record is counted', async () => {
  const action = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('add' as const), run: fc.nat({ max: 2 }) }) },
    fc.record({ kind: fc.constantFrom('break' as const, 'repair' as const, 'flush' as const, 'wait' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60 }), fc.boolean(), async (steps, hasRetryLimit) => {
      const setup = setUp({ maxQueued: 5, ...(hasRetryLimit ? { retryForMs: 2_000 } : {}) });
      const { queue, timers, stored } = setup;
      const nextSeqs = [0, 0, 0];
      const add = (run: number): void => {
        queue.add(recordOf(nextSeqs[run] ?? 0, `run-${run}`));
        nextSeqs[run] = (nextSeqs[run] ?? 0) + 1;
      };
      for (const step of steps) {
        if (step.kind === 'add') add(step.run);
        else if (step.kind === 'wait') await timers.advance(1_500);
        else if (step.kind === 'flush') {
          const flushing = queue.flush({ timeLimitMs: 100 });
          await timers.advance(100);
          await flushing;
        } else setup.fault = step.kind === 'break' ? 'store-io' : undefined;
      }
      setup.fault = undefined;
      for (let round = 0; round < 2; round += 1) {
        const flushing = queue.flush();
        await timers.advance(5_000);
        await flushing;
        if (round === 0) for (const run of [0, 1, 2]) add(run);
      }
      let total = 0;
      for (const run of [0, 1, 2]) {
        let expected = 0;
        for (const record of await stored(`run-${run}`)) {
          expect(record.seq).toBe(expected);
          expected = lastSeqOf(record) + 1;
        }
        expect(expected).toBe(nextSeqs[run]);
        total += expected;
      }
      const { written, dropped, queued, queuedBytes } = queue.health();
      expect({ counted: written + dropped, queued, queuedBytes }).toEqual({
        counted: total,
        queued: 0,
        queuedBytes: 0,
      });
    }),
    { numRuns: 60 },
  );
});

test('a slow sink gets one batch of a run at a time, and the order holds for any failures', async () => {
  const outcome = fc.constantFrom('store' as const, 'refuse' as const, 'store and refuse' as const);
  const answers = fc.array(fc.record({ turns: fc.nat({ max: 4 }), outcome }), { minLength: 1, maxLength: 12 });
  let maxConcurrent = 0;
  await fc.assert(
    fc.asyncProperty(answers, async (script) => {
      const store = memoryStore();
      const timers = createFakeTimers();
      let calls = 0;
      let concurrent = 0;
      const append = async (batch: readonly TrajectoryRecord[]): Promise<number> => {
        const step = script[calls++] ?? { turns: 1, outcome: 'store' };
        concurrent += 1;
        maxConcurrent = Math.max(maxConcurrent, concurrent);
        // A sink takes batches in the order of the calls, whatever becomes of them.
        const storing = step.outcome === 'refuse' ? undefined : store.append(batch).catch((error: unknown) => error);
        for (let turn = 0; turn < step.turns; turn += 1) await nextTurn();
        concurrent -= 1;
        const seq = await storing;
        if (step.outcome !== 'store') throw new CoxswainError('store-io', 'the line was cut');
        if (typeof seq !== 'number') throw seq;
        return seq;
      };
      const queue = new RecordQueue({ append, flush: () => store.flush(), close: () => store.close() }, { timers });
      const count = 2_500;
      for (let seq = 0; seq < count; seq += 1) queue.add(recordOf(seq));
      const flushing = queue.flush({ timeLimitMs: 1_000_000 });
      while (queue.health().written < count) await timers.advance(1_000);
      expect(await flushing).toBe('stored');
      expect((await readAll(store, 'run')).map((record) => record.seq)).toEqual(
        Array.from({ length: count }, (_, seq) => seq),
      );
      expect(queue.health()).toMatchObject({ written: count, dropped: 0, queued: 0, queuedBytes: 0 });
      expect(queue.durableSeq('run')).toBe(count - 1);
    }),
    { numRuns: 60 },
  );
  expect(maxConcurrent).toBe(1);
});

test('a store that fails for ten seconds is logged once before the process ends', async () => {
  const setup = setUp();
  const { queue, timers } = setup;
  setup.fault = 'store-io';
  for (let seq = 0; seq < 77; seq += 1) queue.add(recordOf(seq, 'failing'));
  for (let second = 0; second < 30; second += 1) {
    await nextTurn();
    await timers.advance(1_000);
  }
  const projectFolder = projectFolderOf(process.cwd());
  const messages = readFaults({ env: process.env, projectFolder }).map(({ message }) => message);
  const storeMessages = messages.filter((message) =>
    /the store has failed for 1\d seconds, 77 records wait in memory: no space left/.test(message),
  );
  expect(storeMessages).toHaveLength(1);
  setup.fault = undefined;
  await queue.close();
});
