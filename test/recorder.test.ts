import { expect, test } from 'vitest';
import { CoxswainError } from '../src/core/base/error.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import type { TrajectoryStore } from '../src/core/store/trajectory-store.ts';
import { createFakeTimers } from './support/fake-timers.ts';
import { readAll } from './support/script-records.ts';

/** A store in memory whose medium fails while `isBroken`. */
function breakable(): { readonly store: TrajectoryStore; readonly inside: TrajectoryStore; isBroken: boolean } {
  const inside = memoryStore();
  const self = {
    isBroken: false,
    inside,
    store: new Proxy(inside, {
      get: (target, name) => {
        if (name === 'append' && self.isBroken) {
          return () => Promise.reject(new CoxswainError('store-io', 'the disk is full'));
        }
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    }),
  };
  return self;
}

const turn = { type: 'turn_start' } as const;

test('a full disk for a minute costs nothing: the agent feels nothing, and the record is whole', async () => {
  const timers = createFakeTimers();
  const broken = breakable();
  const cox = createCoxswain({ store: broken.store, timers });
  const run = cox.startRun({ runId: 'r' });
  await run.flush();
  broken.isBroken = true;
  for (let second = 0; second < 60; second += 1) {
    expect(run.emit(turn)).toBe('accepted');
    await timers.advance(1_000);
  }
  expect(cox.health().recorder).toMatchObject({ queued: 60, dropped: 0, failingRuns: 1 });
  expect(run.durableSeq).toBe(0);
  broken.isBroken = false;
  await timers.advance(5_000);
  expect(run.durableSeq).toBe(60);
  expect(await run.end()).toEqual({ stored: true, lostRecords: 0 });
  expect((await readAll(broken.inside, 'r')).map((record: TrajectoryRecord) => record.seq)).toEqual(
    Array.from({ length: 62 }, (_, seq) => seq),
  );
});

test('the end of a run waits for a store that fails for its limit and no longer', async () => {
  const broken = breakable();
  broken.isBroken = true;
  const timers = createFakeTimers();
  const limits = { store: broken.store, flushTimeLimitMs: 5_000, timers };
  let end: unknown = 'waits';
  const quiet = createCoxswain(limits).startRun().end();
  void quiet.then((how) => (end = how));
  await timers.advance(4_999);
  expect(end).toBe('waits');
  await timers.advance(1);
  expect(await quiet).toEqual({ stored: false, lostRecords: 0 });
  const loud = createCoxswain({ ...limits, onFailure: 'throw' })
    .startRun()
    .end();
  void timers.advance(5_000);
  await expect(loud).rejects.toMatchObject({ code: 'trajectory-io', details: { waiting: 2 } });
});

test('a host that awaits room is held up, for its limit at most, instead of losing records', async () => {
  const broken = breakable();
  const cox = createCoxswain({ store: broken.store, overflow: 'wait', maxQueued: 8, readyTimeLimitMs: 5_000 });
  const run = cox.startRun({ runId: 'r' });
  for (let index = 0; index < 200; index += 1) {
    expect(await run.ready()).toBe(true);
    expect(run.emit(turn)).toBe('accepted');
  }
  await run.flush();
  broken.isBroken = true;
  for (let index = 0; index < 8; index += 1) run.emit(turn);
  expect(await run.ready({ timeLimitMs: 20 })).toBe(false);
  expect(cox.health().recorder?.dropped).toBe(0);
  broken.isBroken = false;
  expect(await run.end()).toEqual({ stored: true, lostRecords: 0 });
});

test('an unknown policy is refused with the known ones', () => {
  const create = () => createCoxswain({ store: memoryStore(), ...({ overflow: 'spill' } as object) });
  expect(create).toThrow(/overflow must be .*drop-newest.*, got "spill"/);
});

test('without a store nothing is stored and nothing is lost', async () => {
  const cox = createCoxswain();
  const run = cox.startRun();
  cox.flushOnExit()();
  expect(await run.ready()).toBe(true);
  expect(await run.end()).toEqual({ stored: false, lostRecords: 0 });
  expect(await cox.close()).toBe('stored');
});

test('closing takes the listeners for signals off', async () => {
  const before = process.listenerCount('SIGTERM');
  const cox = createCoxswain({ store: memoryStore() });
  cox.flushOnExit();
  cox.flushOnExit({ timeLimitMs: 100 });
  expect(process.listenerCount('SIGTERM')).toBe(before + 1);
  await cox.close();
  expect(process.listenerCount('SIGTERM')).toBe(before);
});
