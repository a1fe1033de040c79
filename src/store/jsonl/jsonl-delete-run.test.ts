import { isDeepStrictEqual } from 'node:util';

import { expect, test } from 'vitest';

import { CoxswainError } from '../../base/error.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { allOf, listAll, readAll } from '../../testing/read-all.ts';
import { scriptCalls, scriptRecord } from '../../testing/record-script.ts';
import { simulatedDisk } from '../../../test/support/simulated-disk.ts';
import type { DiskOperation, SimulatedDisk } from '../../../test/support/simulated-disk.ts';
import { JsonlDriver } from './jsonl-driver.ts';
import { resolveJsonlSettings } from './jsonl-settings.ts';
import type { JsonlStoreOptions } from './jsonl-settings.ts';
import type { LockHolder, LockIdentity } from '../lock-identity.ts';
import type { TrajectoryStore } from '../trajectory-store.ts';

const SMALL: JsonlStoreOptions = { segmentBytes: 1024, lock: { waitMs: 0 } };

/** Processes of one machine; those whose name is in `gone` have ended. */
function processes(gone: ReadonlySet<string> = new Set()): (name: string) => LockIdentity {
  let locks = 0;
  const holder = (processStart: string): LockHolder => ({
    host: 'host',
    boot: 'boot',
    pid: 1,
    processStart,
    token: `0000-${(locks += 1)}`,
    sinceMs: 0,
  });
  return (name) => ({ holder: () => holder(name), mayBeAlive: ({ processStart }) => !gone.has(processStart) });
}

function open(disk: SimulatedDisk, identity: LockIdentity, options: JsonlStoreOptions = SMALL): TrajectoryStore {
  return new JsonlDriver('/data/runs', resolveJsonlSettings(options), { fileSystem: disk.fileSystem, identity });
}

const OTHER = scriptCalls('other', 3);
const OLD = scriptCalls('a', 30);
const NEW = [0, 1].map((seq) => scriptRecord({ runId: 'a', seq, atMs: 9000 + seq }));

/** A run over several segments with a snapshot, deleted, and begun anew under its id. */
async function script(store: TrajectoryStore, tell: (what: 'stored' | 'deleted' | 'anew') => void): Promise<void> {
  await store.append(OTHER);
  for (let at = 0; at < OLD.length; at += 10) await store.append(OLD.slice(at, at + 10));
  await store.transact('a', () => ({ records: [], snapshot: 'old', result: 0 }));
  tell('stored');
  await store.deleteRun('a');
  tell('deleted');
  await store.append(NEW);
  tell('anew');
  await store.close();
}

test('a power cut at any operation leaves the run whole or gone, never half, and a deletion that was told is kept', async () => {
  const whole = simulatedDisk();
  await script(open(whole, processes()('first')), () => undefined);
  const outcomes = new Set<string>();
  for (let operations = 0; operations <= whole.changes(); operations += 1) {
    const disk = simulatedDisk();
    disk.faults.operationsLeft = operations;
    let told = 'nothing';
    const store = open(disk, processes()('first'));
    await script(store, (what) => (told = what)).catch(() => undefined);
    await store.close().catch(() => undefined);
    for (const random of [() => 0, () => 0.999, seededRandom(operations), seededRandom(operations + 1000)]) {
      const left = disk.afterPowerCut(random);
      const found = await checkRun(left, told).catch((thrown: unknown) => {
        throw new Error(`power cut at operation ${operations}, ${told}`, { cause: thrown });
      });
      outcomes.add(`${told}: ${found}`);
    }
  }
  for (const outcome of ['stored: old', 'stored: gone', 'deleted: gone', 'deleted: new', 'anew: new']) {
    expect(outcomes).toContain(outcome);
  }
});

/** What may be found after each moment of the script. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  nothing: ['gone', 'partly', 'old'],
  stored: ['old', 'gone'],
  deleted: ['gone', 'new'],
  anew: ['new'],
};

function foundIn(seen: readonly TrajectoryRecord[]): string {
  if (seen.length === 0) return 'gone';
  const isNew = isDeepStrictEqual(seen, NEW);
  if (isNew || isDeepStrictEqual(seen, OLD)) return isNew ? 'new' : 'old';
  return isDeepStrictEqual(seen, OLD.slice(0, seen.length)) ? 'partly' : 'something else';
}

async function checkRun(disk: SimulatedDisk, told: string): Promise<string> {
  const isGone = new Set(['first']);
  const reader = open(disk, processes(isGone)('reader'));
  const seen = await readAll(reader, 'a');
  for (const { problem } of await allOf(reader.verify())) expect(problem).toContain('torn');
  expect((await listAll(reader)).filter((run) => run.problem !== undefined)).toEqual([]);
  expect((await reader.findRun('a'))?.records ?? 0).toBe(seen.length);
  const found = foundIn(seen);
  expect(ALLOWED[told]).toContain(found);
  expect(told === 'nothing' ? OTHER : await readAll(reader, 'other')).toEqual(OTHER);

  const writer = open(disk, processes(isGone)('second'));
  const wasThere = await writer.deleteRun('a');
  // Of a run that is not stored an unfinished write may be there.
  expect(wasThere || found === 'gone').toBe(true);
  expect(disk.paths().filter((path) => path.includes('/removed-') || path.includes('/run-a/'))).toEqual([]);
  await writer.append(NEW);
  expect(await readAll(writer, 'a')).toEqual(NEW);
  await writer.close();
  return found;
}

test('whatever operation the disk refuses, the run is whole or gone, and the next deletion leaves no file', async () => {
  for (const isOpen of [false, true]) {
    let refusedAt = 1;
    while (await deleteRefused(isOpen, refusedAt)) refusedAt += 1;
    expect(refusedAt).toBeGreaterThan(8);
  }
});

/** Deletes a run with one operation refused, then again. Answers false when there was no such operation. */
async function deleteRefused(isOpen: boolean, refusedAt: number): Promise<boolean> {
  const disk = simulatedDisk();
  const store = open(disk, processes()('first'));
  await store.append(OTHER);
  await store.append(OLD);
  if (!isOpen) await store.close();
  const deleter = isOpen ? store : open(disk, processes()('second'));
  let at = 0;
  disk.faults.before = (operation) => {
    at += 1;
    if (at === refusedAt) throw Object.assign(new Error(`EIO: ${operation}`), { code: 'EIO' });
  };
  const outcome = await deleter.deleteRun('a').catch((thrown: unknown) => thrown);
  delete disk.faults.before;
  const answer =
    outcome instanceof CoxswainError ? [outcome.code, (outcome.cause as { code?: unknown }).code] : outcome;
  expect([true, ['store-io', 'EIO']]).toContainEqual(answer);
  const reader = open(disk, processes()('reader'));
  const seen = await readAll(reader, 'a');
  expect(outcome === true ? [0] : [0, OLD.length]).toContain(seen.length);
  expect(await allOf(reader.verify())).toEqual([]);
  expect(await deleter.deleteRun('a')).toBe(seen.length > 0);
  expect(disk.paths().filter((path) => !path.includes('/run-other/'))).toEqual([]);
  expect(await deleter.append(NEW)).toBe(1);
  return at >= refusedAt;
}

test('a run that a living process writes is refused, naming it, and stays; of one that is gone it is deleted', async () => {
  const disk = simulatedDisk();
  const gone = new Set<string>();
  const named = processes(gone);
  const writer = open(disk, named('writer'));
  await writer.append(OLD);
  const deleter = open(disk, named('deleter'));
  await expect(deleter.deleteRun('a')).rejects.toMatchObject({
    code: 'store-io',
    message: expect.stringMatching(/run-a is being written by process 1 on host/),
    details: { holder: { processStart: 'writer' } },
  });
  expect(await writer.append(scriptCalls('a', 1, 30))).toBe(30);
  expect(await readAll(deleter, 'a')).toHaveLength(31);
  gone.add('writer');
  expect(await deleter.deleteRun('a')).toBe(true);
  expect(await listAll(deleter)).toEqual([]);
});

test('a deletion waits for a writer half a second, and no longer', async () => {
  const disk = simulatedDisk();
  const named = processes();
  const options = { ...SMALL, lock: { waitMs: 60_000 } };
  const writer = open(disk, named('writer'), options);
  await writer.append(OLD);
  const deleter = open(disk, named('deleter'), options);
  const waiting = deleter.deleteRun('a');
  await writer.close();
  expect(await waiting).toBe(true);
  await open(disk, named('next writer'), options).append(NEW);
  await expect(deleter.deleteRun('a')).rejects.toMatchObject({ code: 'store-io' });
});

test('a run that is damaged, or of which only a torn write is there, is deleted', async () => {
  const disk = simulatedDisk();
  const store = open(disk, processes(new Set(['first']))('first'), { lock: { waitMs: 0 } });
  await store.append(OLD.slice(0, 10));
  await store.append(OLD.slice(10));
  const path = disk.paths().find((one) => one.endsWith('.jsonl')) ?? '';
  disk.overwrite(path, Buffer.from(disk.read(path).toString().replace('call-3', 'call-X')));
  const other = open(disk, processes(new Set(['first']))('second'));
  expect((await other.findRun('a'))?.problem).toContain('line 4');
  expect(await other.deleteRun('a')).toBe(true);
  expect(await allOf(other.verify())).toEqual([]);
  expect(await other.append(NEW)).toBe(1);
});

test('what a process that ended in the middle left is no run, counts in the size, and goes with the next deletion', async () => {
  const disk = simulatedDisk();
  const store = open(disk, processes()('first'));
  await store.append(OTHER);
  const bytes = await store.sizeOf();
  await store.append(OLD);
  await store.close();
  disk.faults.before = (operation, path) => {
    if (operation === 'remove' && path.includes('/removed-')) throw Object.assign(new Error('EIO'), { code: 'EIO' });
  };
  await expect(open(disk, processes()('second')).deleteRun('a')).rejects.toMatchObject({ code: 'store-io' });
  delete disk.faults.before;
  const next = open(disk, processes()('third'));
  expect((await listAll(next)).map((run) => run.runId)).toEqual(['other']);
  expect(await allOf(next.verify())).toEqual([]);
  expect(await next.sizeOf()).toBeGreaterThan(bytes + 500);
  expect(await next.deleteRun('no such run')).toBe(false);
  expect(await next.sizeOf()).toBeLessThan(bytes + 500);
});

/** Holds up the operation of that number of those that fit. */
function interrupt(
  disk: SimulatedDisk,
  at: number,
  isPlace: (operation: DiskOperation, path: string) => boolean,
): { readonly reached: Promise<void>; readonly goOn: () => void } {
  let count = 0;
  const reached = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  disk.faults.before = async (operation, path) => {
    if (!isPlace(operation, path) || (count += 1) !== at) return;
    reached.resolve();
    await goOn.promise;
  };
  return { reached: reached.promise, goOn: goOn.resolve };
}

/** Lets `work` begin, and deletes the run at the operation of that number in its folder. */
async function deleteDuring(
  disk: SimulatedDisk,
  at: number,
  { work, meanwhile }: { readonly work: () => Promise<unknown>; readonly meanwhile: () => Promise<void> },
): Promise<{ readonly wasReached: boolean; readonly result: unknown }> {
  const paused = interrupt(disk, at, (_operation, path) => path.includes('/run-a'));
  const result = work().catch((thrown: unknown) => thrown);
  const wasReached = await Promise.race([paused.reached.then(() => true), result.then(() => false)]);
  delete disk.faults.before;
  if (wasReached) await meanwhile();
  paused.goOn();
  return { wasReached, result: await result };
}

/** A run over several segments that nobody holds. */
async function closedRun(disk: SimulatedDisk): Promise<void> {
  const writer = open(disk, processes()('writer'));
  for (let at = 0; at < OLD.length; at += 10) await writer.append(OLD.slice(at, at + 10));
  await writer.close();
}

const LOOKS: Readonly<Record<string, (store: TrajectoryStore) => Promise<unknown>>> = {
  list: (store) => listAll(store),
  verify: (store) => allOf(store.verify()),
  search: async (store) => (await store.search({ text: 'call' })).hits.map(({ snippet }) => snippet),
  find: (store) => store.findRun('a'),
  size: (store) => store.sizeOf(),
};

test.each(Object.keys(LOOKS))('%s meets no fault where a run is deleted meanwhile', async (name) => {
  let at = 1;
  for (let wasReached = true; wasReached; at += 1) {
    const disk = simulatedDisk();
    await closedRun(disk);
    const reader = open(disk, processes()('reader'));
    const deleter = open(disk, processes()('deleter'));
    const during = await deleteDuring(disk, at, {
      work: async () => LOOKS[name]?.(reader),
      meanwhile: async () => void (await deleter.deleteRun('a')),
    });
    wasReached = during.wasReached;
    expect(JSON.stringify(during.result) ?? '').not.toContain('problem');
    expect(during.result).not.toBeInstanceOf(Error);
  }
  expect(at).toBeGreaterThan(2);
});

test('who takes the lock of a run that is deleted and begun anew meanwhile never shares it with the new writer', async () => {
  const outcomes: unknown[] = [];
  for (let at = 1; ; at += 1) {
    const disk = simulatedDisk();
    await closedRun(disk);
    const named = processes();
    const [slow, deleter, fresh] = [
      open(disk, named('slow')),
      open(disk, named('deleter')),
      open(disk, named('fresh')),
    ];
    let anew: unknown;
    const { wasReached, result } = await deleteDuring(disk, at, {
      work: () => slow.append(scriptCalls('a', 1, 30)),
      meanwhile: async () => {
        if (await deleter.deleteRun('a').catch(() => false)) anew = await fresh.append(NEW);
      },
    });
    if (!wasReached) break;
    // Where the slow one had the lock already, nothing was deleted.
    const after = anew === undefined ? undefined : await fresh.append([scriptRecord({ runId: 'a', seq: 2 })]);
    const records = (await readAll(fresh, 'a')).length;
    outcomes.push([anew, after, records, result instanceof CoxswainError ? result.code : result]);
    expect(await allOf(fresh.verify())).toEqual([]);
  }
  expect(outcomes.length).toBeGreaterThan(10);
  expect(outcomes[0]).toEqual([1, 2, 3, 'store-io']);
  const allowed = [
    [1, 2, 3, 'store-io'],
    [undefined, undefined, 31, 30],
  ];
  for (const outcome of outcomes) expect(allowed).toContainEqual(outcome);
});

test('a writer that takes the lock of a run while it is deleted begins it anew', async () => {
  const outcomes: unknown[] = [];
  for (let at = 1; ; at += 1) {
    const disk = simulatedDisk();
    await closedRun(disk);
    const named = processes();
    const slow = open(disk, named('slow'), { ...SMALL, lock: { waitMs: 5000 } });
    const deleter = open(disk, named('deleter'));
    let wasDeleted = false;
    const { wasReached, result } = await deleteDuring(disk, at, {
      work: () => slow.append(NEW),
      meanwhile: async () => {
        wasDeleted = await deleter.deleteRun('a').catch(() => false);
      },
    });
    if (!wasReached) break;
    outcomes.push([wasDeleted, result instanceof CoxswainError ? result.code : result]);
  }
  expect(outcomes).toContainEqual([true, 1]);
  const allowed = [
    [true, 1],
    [false, 'store-conflict'],
  ];
  for (const outcome of outcomes) expect(allowed).toContainEqual(outcome);
});

test('while closed segments are compressed the run is held: another one of its id would lie under the same names', async () => {
  const answers: unknown[] = [];
  for (let wasReached = true; wasReached;) {
    const disk = simulatedDisk();
    const packer = open(disk, processes()('packer'), { ...SMALL, compressClosed: true });
    await packer.append(OLD.slice(0, 10));
    await packer.append(OLD.slice(10, 20));
    const deleter = open(disk, processes()('deleter'));
    const during = await deleteDuring(disk, answers.length + 1, {
      work: () => packer.close(),
      meanwhile: async () => void answers.push(await deleter.deleteRun('a').catch(() => 'held')),
    });
    wasReached = during.wasReached;
    expect(await readAll(open(disk, processes()('reader')), 'a')).toEqual(OLD.slice(0, 20));
  }
  expect(answers.length).toBeGreaterThan(10);
  expect(new Set(answers)).toEqual(new Set(['held']));
});

test('two processes that delete one run at a time do it once', async () => {
  const disk = simulatedDisk();
  const named = processes();
  const first = open(disk, named('first'));
  await first.append(OLD);
  await first.close();
  const options = { ...SMALL, lock: { waitMs: 5000 } };
  const deleters = ['second', 'third', 'fourth'].map((name) => open(disk, named(name), options));
  const answers = await Promise.all(deleters.map((store) => store.deleteRun('a')));
  expect(answers.filter((one) => one)).toEqual([true]);
  expect(disk.paths()).toEqual([]);
});
