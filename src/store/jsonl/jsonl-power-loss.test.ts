import { expect, test } from 'vitest';

import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { readAll } from '../../testing/read-all.ts';
import { scriptCalls, scriptRecord } from '../../testing/record-script.ts';
import { simulatedDisk, type SimulatedDisk } from '../../../test/support/simulated-disk.ts';
import { linesStore, type LinesStore } from '../../../test/support/lines-store.ts';
import type { JsonlSinkOptions } from './jsonl-sink.ts';

const FOLDER = '/data/runs';

function open(disk: SimulatedDisk, options: JsonlSinkOptions): LinesStore {
  return linesStore(FOLDER, options, {
    fileSystem: disk.fileSystem,
    takeLock: async () => ({ release: () => undefined }),
  });
}

/** The acknowledgements of a script. */
interface Promises {
  ackSeq: number;
}

const long = 'é€😀'.repeat(60);

function recordAt(seq: number): TrajectoryRecord {
  return scriptRecord({
    runId: 'a',
    seq,
    payload: { kind: 'compaction', trigger: `${seq} ${long.slice(0, seq * 7)}` },
  });
}

function recordsFrom(seq: number, count: number): readonly TrajectoryRecord[] {
  return Array.from({ length: count }, (_, index) => recordAt(seq + index));
}

/** Appends alone and together; stops where the power does. */
async function appendScript(store: LinesStore, promised: Promises): Promise<void> {
  const acknowledge = async (work: Promise<number>): Promise<void> => {
    promised.ackSeq = Math.max(promised.ackSeq, await work);
  };
  await acknowledge(store.append(recordsFrom(0, 1)));
  await Promise.all([
    acknowledge(store.append(recordsFrom(1, 3))),
    acknowledge(store.append(recordsFrom(4, 1))),
    acknowledge(store.append(recordsFrom(5, 2))),
  ]);
  await acknowledge(store.append(recordsFrom(7, 6)));
  await acknowledge(store.append(recordsFrom(13, 1)));
  await store.close();
}

const randoms: readonly (readonly [string, () => number])[] = [
  ['nothing unsynced is left', () => 0],
  ['all is left', () => 0.999],
  ...[1, 2, 3, 4, 5, 6].map((seed) => [`seed ${seed}`, seededRandom(seed)] as const),
];

async function cutAt(options: JsonlSinkOptions, operations: number): Promise<[SimulatedDisk, Promises]> {
  const disk = simulatedDisk();
  const promised: Promises = { ackSeq: -1 };
  disk.faults.operationsLeft = operations;
  const store = open(disk, options);
  await appendScript(store, promised).catch(() => undefined);
  // Pending calls end in errors.
  await store.close().catch(() => undefined);
  return [disk, promised];
}

/** Answers how many records were there. */
async function holdsPromises(disk: SimulatedDisk, promised: Promises, options: JsonlSinkOptions): Promise<number> {
  const reader = open(disk, options);
  const seen = await readAll(reader, 'a');
  expect(seen).toEqual(recordsFrom(0, seen.length));
  expect(seen.length).toBeGreaterThan(promised.ackSeq);
  expect((await reader.findRun('a'))?.lastSeq ?? -1).toBe(seen.length - 1);
  expect((await reader.findRun('a'))?.problem).toBeUndefined();
  for await (const { problem } of reader.verify()) expect(problem).toContain('torn');

  const writer = open(disk, options);
  await writer.append(recordsFrom(seen.length, 3));
  expect(await readAll(writer, 'a')).toEqual(recordsFrom(0, seen.length + 3));
  for await (const problem of writer.verify()) expect(problem).toBeUndefined();
  await writer.close();
  return seen.length;
}

for (const fsync of ['group', 'each'] as const) {
  test(`a power cut at any operation of appends, fsync ${fsync}, loses nothing acknowledged and tears nothing`, async () => {
    const whole = simulatedDisk();
    await appendScript(open(whole, { fsync }), { ackSeq: -1 });
    expect(whole.changes()).toBeGreaterThan(12);
    const lengths = new Set<number>();
    for (let operations = 0; operations <= whole.changes(); operations += 1) {
      const [disk, promised] = await cutAt({ fsync }, operations);
      for (const [what, random] of randoms) {
        const left = await holdsPromises(disk.afterPowerCut(random), promised, { fsync }).catch((thrown: unknown) => {
          throw new Error(`power cut at operation ${operations}, ${what}`, { cause: thrown });
        });
        lengths.add(left);
      }
    }
    expect(lengths.size).toBeGreaterThan(4);
  });
}

test('with fsync none, records before a flush survive a power cut', async () => {
  const options: JsonlSinkOptions = { fsync: 'none' };
  const disk = simulatedDisk();
  const store = open(disk, options);
  await store.append(scriptCalls('a', 20));
  expect(
    await readAll(
      open(
        disk.afterPowerCut(() => 0),
        options,
      ),
      'a',
    ),
  ).toEqual([]);
  await store.flush();
  await store.append(scriptCalls('a', 5, 20));
  expect(
    await readAll(
      open(
        disk.afterPowerCut(() => 0),
        options,
      ),
      'a',
    ),
  ).toEqual(scriptCalls('a', 20));
});
