import { expect, test } from 'vitest';

import { CoxswainError } from '../src/core/base/error.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { listAll, scriptRecord } from './support/script-records.ts';
import { collectGarbage, DEFAULT_MAX_STORE_BYTES } from '../src/stores/collect-garbage.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import type { TrajectoryStore } from '../src/core/store/trajectory-store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW_MS = 1_800_000_000_000;

/** A run of about 1 KB that ended so many days ago. */
function ended(runId: string, daysAgo: number, parentRunId?: string): readonly TrajectoryRecord[] {
  const atMs = NOW_MS - daysAgo * DAY_MS;
  const place = parentRunId === undefined ? {} : { parent_run_id: parentRunId, depth: 1 };
  const payloads: readonly TrajectoryPayload[] = [
    { kind: 'compaction', trigger: `${runId} `.repeat(900 / (runId.length + 1)) },
    { kind: 'run_ended', outcome: 'ended', new_messages: [] },
  ];
  return payloads.map((payload, seq) => Object.assign(scriptRecord({ runId, seq, atMs, payload }), place));
}

/** The same store, with some methods done otherwise. */
function changed(store: TrajectoryStore, own: Partial<TrajectoryStore>): TrajectoryStore {
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(name in own ? own : target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

async function storeOf(...runs: readonly (readonly TrajectoryRecord[])[]): Promise<TrajectoryStore> {
  const store = memoryStore();
  for (const records of runs) await store.append(records);
  return store;
}

async function idsOf(store: TrajectoryStore): Promise<readonly string[]> {
  return (await listAll(store)).map(({ runId }) => runId).toSorted();
}

const now = { nowMs: NOW_MS };

test('without options a store within 2 GB keeps everything, and its runs are not even listed', async () => {
  expect(DEFAULT_MAX_STORE_BYTES).toBe(2_000_000_000);
  const store = await storeOf(ended('old', 4000));
  const unlisted = changed(store, { listRuns: () => Promise.reject(new Error('listed')) });
  const report = await collectGarbage(unlisted, now);
  const bytes = await store.sizeOf();
  expect(report).toEqual({ bytesBefore: bytes, bytesAfter: bytes, collected: [], failed: [], left: 0 });
});

test('old runs go, with what they took and why, and a dry run says the same and deletes nothing', async () => {
  const store = await storeOf(ended('a', 40), ended('b', 31), ended('c', 1));
  const options = { ...now, olderThanMs: 30 * DAY_MS };
  const before = await store.sizeOf();
  const dry = await collectGarbage(store, { ...options, isDryRun: true });
  expect(await idsOf(store)).toEqual(['a', 'b', 'c']);
  const report = await collectGarbage(store, options);
  expect(report).toEqual(dry);
  expect(await idsOf(store)).toEqual(['c']);
  expect(report.collected).toEqual([
    { runId: 'a', bytes: expect.any(Number), records: 2, lastAtMs: NOW_MS - 40 * DAY_MS, reason: 'age' },
    { runId: 'b', bytes: expect.any(Number), records: 2, lastAtMs: NOW_MS - 31 * DAY_MS, reason: 'age' },
  ]);
  const freed = report.collected.reduce((sum, { bytes }) => sum + bytes, 0);
  expect([report.bytesBefore, report.bytesAfter]).toEqual([before, before - freed]);
  expect(await store.sizeOf()).toBe(report.bytesAfter);
});

test('for size the oldest go until the store is within it', async () => {
  const store = await storeOf(ended('a', 4), ended('b', 3), ended('c', 2), ended('d', 1));
  const maxBytes = Math.floor((await store.sizeOf()) / 2);
  const report = await collectGarbage(store, { ...now, maxBytes });
  expect(report.collected.map(({ runId, reason }) => [runId, reason])).toEqual([
    ['a', 'size'],
    ['b', 'size'],
  ]);
  expect(report.bytesAfter).toBeLessThanOrEqual(maxBytes);
  expect((await collectGarbage(store, { ...now, maxBytes })).collected).toEqual([]);
});

test('runs that free less than their share, or stay, are made up for by the next ones', async () => {
  const store = await storeOf(ended('a', 5), ended('b', 4), ended('c', 3), ended('d', 2), ended('e', 1));
  const bytes = await store.sizeOf();
  let deletedRuns = 0;
  const slow = changed(store, {
    sizeOf: () => Promise.resolve(bytes - deletedRuns * 500),
    deleteRun: async (runId) => {
      if (runId === 'a') throw new CoxswainError('store-io', 'run a is being written');
      deletedRuns += 1;
      return store.deleteRun(runId);
    },
  });
  const report = await collectGarbage(slow, { ...now, maxBytes: bytes - 1400 });
  expect(report.collected.map(({ runId }) => runId)).toEqual(['b', 'c', 'd']);
  expect(report).toMatchObject({ bytesAfter: bytes - 1500, failed: [{ runId: 'a' }], left: 0 });
});

test('with an age alone the default size does not count', async () => {
  const store = await storeOf(ended('a', 40), ended('b', 1));
  // A store that says that it is far too large.
  const huge = changed(store, { sizeOf: () => Promise.resolve(10 * DEFAULT_MAX_STORE_BYTES) });
  expect((await collectGarbage(huge, { ...now, olderThanMs: 30 * DAY_MS })).collected).toHaveLength(1);
  expect((await collectGarbage(huge, now)).collected).toHaveLength(1);
  expect(await idsOf(store)).toEqual([]);
});

test('one call deletes at most 20 runs, or as many as it is told, but never half a tree', async () => {
  const runs = Array.from({ length: 50 }, (_, index) => ended(`run-${index}`, 100 - index));
  const store = await storeOf(...runs);
  const options = { ...now, olderThanMs: 30 * DAY_MS };
  expect(await collectGarbage(store, options)).toMatchObject({ collected: { length: 20 }, left: 30 });
  expect(await collectGarbage(store, { ...options, maxRuns: 25 })).toMatchObject({
    collected: { length: 25 },
    left: 5,
  });
  expect(await collectGarbage(store, { ...options, maxRuns: Infinity })).toMatchObject({ left: 0 });
  expect(await idsOf(store)).toEqual([]);

  const trees = await storeOf(ended('a', 60), ended('b', 60));
  for (const child of ['a1', 'a2', 'a3', 'b1', 'b2', 'b3']) await trees.append(ended(child, 60, child.slice(0, 1)));
  const report = await collectGarbage(trees, { ...options, maxRuns: 2 });
  expect(report).toMatchObject({ left: 4 });
  expect(report.collected.at(-1)).toMatchObject({ runId: 'a' });
  expect(await idsOf(trees)).toEqual(['b', 'b1', 'b2', 'b3']);
});

test('a run that cannot be deleted is reported and stays with those above it; the others go', async () => {
  const store = await storeOf(
    ended('parent', 50),
    ended('child1', 50, 'parent'),
    ended('child2', 50, 'parent'),
    ended('single', 40),
  );
  const refusing = changed(store, {
    deleteRun: async (runId) => {
      if (runId === 'child1') throw new CoxswainError('store-io', 'run child1 is being written');
      return store.deleteRun(runId);
    },
  });
  const report = await collectGarbage(refusing, { ...now, olderThanMs: DAY_MS });
  expect(report.failed).toEqual([{ runId: 'child1', error: expect.any(CoxswainError) }]);
  expect(await idsOf(store)).toEqual(['child1', 'parent']);
  expect(await collectGarbage(store, { ...now, olderThanMs: DAY_MS })).toMatchObject({ failed: [] });
  expect(await idsOf(store)).toEqual([]);
});

test('a run that is written to while others are deleted stays, with its tree', async () => {
  const store = await storeOf(ended('first', 50), ended('parent', 40), ended('child', 40, 'parent'));
  const resumed = changed(store, {
    deleteRun: async (runId) => {
      const wasThere = await store.deleteRun(runId);
      await store.append([scriptRecord({ runId: 'child', seq: 2, atMs: NOW_MS })]);
      return wasThere;
    },
  });
  const report = await collectGarbage(resumed, { ...now, olderThanMs: 30 * DAY_MS });
  expect(report).toMatchObject({ collected: [{ runId: 'first' }], failed: [], left: 2 });
  expect(await idsOf(store)).toEqual(['child', 'parent']);
});

test('options out of range are invalid-argument', async () => {
  const store = memoryStore();
  for (const options of [{ olderThanMs: 0 }, { olderThanMs: Number.NaN }, { maxBytes: -1 }, { maxRuns: 0 }]) {
    await expect(collectGarbage(store, options)).rejects.toMatchObject({ code: 'invalid-argument' });
  }
});
