import { expect, test } from 'vitest';

import { CoxswainError } from '../../base/error.ts';
import { readAll } from '../../testing/read-all.ts';
import { scriptCalls, scriptRecord } from '../../testing/record-script.ts';
import { simulatedDisk, type DiskOperation, type SimulatedDisk } from '../../../test/support/simulated-disk.ts';
import { linesStore, type LinesStore } from '../../../test/support/lines-store.ts';
import type { JsonlSinkOptions } from './jsonl-sink.ts';

const NO_WAIT: JsonlSinkOptions = { lock: { waitMs: 0 } };

function open(disk: SimulatedDisk, options: JsonlSinkOptions = NO_WAIT): LinesStore {
  const ports = { fileSystem: disk.fileSystem, takeLock: async () => ({ release: () => undefined }) };
  return linesStore('/runs', options, ports);
}

/** The records that another process reads. */
async function stored(disk: SimulatedDisk): Promise<readonly unknown[]> {
  const reader = open(disk);
  for await (const { problem } of reader.verify()) expect(problem).toContain('torn');
  return readAll(reader, 'a');
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof CoxswainError ? thrown.code : thrown;
}

function refuse(code: string, operations: readonly DiskOperation[]): NonNullable<SimulatedDisk['faults']['before']> {
  return (operation) => {
    if (operations.includes(operation)) throw Object.assign(new Error(`${code}: refused`), { code });
  };
}

for (const fsync of ['group', 'each', 'none'] as const) {
  test(`a full disk with fsync ${fsync} is store-io, leaves no partial append, and appends work again once there is room`, async () => {
    const disk = simulatedDisk();
    const store = open(disk, { ...NO_WAIT, fsync });
    await store.append(scriptCalls('a', 4));
    for (let room = 0; room < 3000; room += 119) {
      const used = disk.paths().reduce((sum, path) => sum + disk.read(path).length, 0);
      disk.faults.capacityBytes = used + (room % 900);
      const refused = { code: 'store-io', cause: { code: 'ENOSPC' } };
      await expect(store.append(scriptCalls('a', 8, 4))).rejects.toMatchObject(refused);
      await expect(store.append(scriptCalls('a', 8, 4))).rejects.toMatchObject(refused);
      expect(await stored(disk)).toEqual(scriptCalls('a', 4));
      expect(await store.findRun('a')).toMatchObject({ lastSeq: 3 });
    }
    delete disk.faults.capacityBytes;
    expect(await store.append(scriptCalls('a', 9, 4))).toBe(12);
    expect(await stored(disk)).toEqual(scriptCalls('a', 13));
    await store.close();
  });
}

for (const code of ['EIO', 'EACCES'] as const) {
  test(`${code} at any kind of operation is store-io with its cause, and appends work again afterwards`, async () => {
    const kinds: readonly DiskOperation[] = ['write', 'sync', 'open', 'syncFolder'];
    for (const operation of kinds) {
      const disk = simulatedDisk();
      const refused = { code: 'store-io', cause: { code } };
      disk.faults.before = refuse(code, [operation]);
      const store = open(disk);
      await expect(store.append(scriptCalls('a', 2))).rejects.toMatchObject(refused);
      delete disk.faults.before;
      expect(await store.append(scriptCalls('a', 2))).toBe(1);
      disk.faults.before = refuse(code, [operation]);
      const appended = await store.append(scriptCalls('a', 20, 2)).catch(codeOf);
      expect([21, 'store-io']).toContain(appended);
      delete disk.faults.before;
      expect(await stored(disk)).toHaveLength(appended === 21 ? 22 : 2);
      expect(await store.append(scriptCalls('a', 20, 2))).toBe(21);
      await store.close();
      expect(await stored(disk)).toEqual(scriptCalls('a', 22));
    }
  });
}

test('bytes left by a refused write are truncated before the next write, even if truncating failed at first', async () => {
  const disk = simulatedDisk();
  const store = open(disk);
  await store.append(scriptCalls('a', 2));
  disk.faults.before = refuse('EIO', ['sync', 'truncate']);
  await expect(store.append(scriptCalls('a', 3, 2))).rejects.toMatchObject({ code: 'store-io' });
  await expect(store.append(scriptCalls('a', 1, 2))).rejects.toMatchObject({ code: 'store-io' });
  delete disk.faults.before;
  const other = [scriptRecord({ runId: 'a', seq: 2, atMs: 5 })];
  expect(await store.append(other)).toBe(2);
  expect(await stored(disk)).toEqual([...scriptCalls('a', 2), ...other]);
});

test('a short write is continued', async () => {
  const disk = simulatedDisk();
  disk.faults.maxWriteBytes = 7;
  const store = open(disk);
  await store.append(scriptCalls('a', 30));
  expect(await stored(disk)).toEqual(scriptCalls('a', 30));
});

test('appends that arrive during a sync share the next sync', async () => {
  const disk = simulatedDisk();
  const store = open(disk, { lock: { waitMs: 0 } });
  await store.append(scriptCalls('a', 1));
  let syncs = 0;
  const gate = Promise.withResolvers<void>();
  disk.faults.before = (operation) => {
    if (operation !== 'sync') return undefined;
    syncs += 1;
    return gate.promise;
  };
  const answers: number[] = [];
  const appends = scriptCalls('a', 40, 1).map(async (record) => answers.push(await store.append([record])));
  const first = appends.shift();
  await expect.poll(() => syncs).toBe(1);
  const late = scriptCalls('a', 9, 41).map(async (record) => answers.push(await store.append([record])));
  expect([answers, syncs]).toEqual([[], 1]);
  gate.resolve();
  await Promise.all([first, ...appends, ...late]);
  expect(answers).toEqual(Array.from({ length: 49 }, (_, index) => index + 1));
  expect(syncs).toBe(2);
});

test('with fsync each, every append has its own sync; with fsync none, no append has one', async () => {
  for (const [fsync, expected] of [
    ['each', 10],
    ['none', 0],
  ] as const) {
    const disk = simulatedDisk();
    const store = open(disk, { fsync });
    await store.append(scriptCalls('a', 1));
    let syncs = 0;
    disk.faults.before = (operation) => {
      if (operation === 'sync') syncs += 1;
    };
    await Promise.all(scriptCalls('a', 10, 1).map((record) => store.append([record])));
    expect(syncs).toBe(expected);
    await store.flush();
    expect(syncs).toBe(expected === 0 ? 1 : expected);
  }
});

test('with fsync none, the next flush reports a failed sync', async () => {
  const disk = simulatedDisk();
  const store = open(disk, { fsync: 'none' });
  await store.append(scriptCalls('a', 1));
  disk.faults.before = refuse('EIO', ['sync']);
  await expect(store.flush()).rejects.toMatchObject({ code: 'store-io' });
  delete disk.faults.before;
  await expect(store.flush()).rejects.toMatchObject({ code: 'store-io' });
  await expect(store.close()).rejects.toMatchObject({ code: 'store-io' });
});

test('a rejected append does not reject the other appends of its write', async () => {
  const disk = simulatedDisk();
  const store = open(disk);
  const batches = [scriptCalls('a', 2), scriptCalls('a', 1, 7), scriptCalls('a', 2, 1), scriptCalls('a', 1, 3)];
  const outcomes = await Promise.allSettled(batches.map((batch) => store.append(batch)));
  expect(
    outcomes.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as { code: string }).code)),
  ).toEqual([1, 'store-gap', 2, 3]);
  expect(await stored(disk)).toEqual(scriptCalls('a', 4));
});

test('a file that another program writes to despite the lock is store-io', async () => {
  const disk = simulatedDisk();
  const store = open(disk);
  await store.append(scriptCalls('a', 1));
  const path = disk.paths().find((one) => one.endsWith('.jsonl')) ?? '';
  disk.overwrite(path, Buffer.concat([disk.read(path), disk.read(path)]));
  const changed = { code: 'store-io', message: expect.stringContaining('changed by another program') };
  await expect(store.append(scriptCalls('a', 1, 1))).rejects.toMatchObject(changed);
});
