import { expect, test } from 'vitest';

import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { readAll } from '../../testing/read-all.ts';
import { scriptCalls, scriptRecord } from '../../testing/record-script.ts';
import { simulatedDisk } from '../../../test/support/simulated-disk.ts';
import type { SimulatedDisk } from '../../../test/support/simulated-disk.ts';
import { linesStore, type LinesStore } from '../../../test/support/lines-store.ts';
import type { JsonlSinkOptions } from './jsonl-settings.ts';
import type { LockHolder, LockIdentity } from '../lock-identity.ts';

const FOLDER = '/data/runs';
const SMALL: JsonlSinkOptions = { segmentBytes: 1500, lock: { waitMs: 0 } };

/** A process of its own since a start of the machine of its own: nobody else is alive. */
function machine(name: string): LockIdentity {
  let locks = 0;
  const holder = (): LockHolder => ({
    host: 'host',
    boot: name,
    pid: 1,
    processStart: '',
    token: `${name}-${(locks += 1)}`,
    sinceMs: 0,
  });
  return { holder, mayBeAlive: ({ boot }) => boot === name };
}

function open(disk: SimulatedDisk, name: string, options: JsonlSinkOptions): LinesStore {
  const ports = { fileSystem: disk.fileSystem, identity: machine(name) };
  return linesStore(FOLDER, options, ports);
}

/** What a script was promised. */
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

/** Appends alone and together, over several segments; stops where the power does. */
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

type Script = typeof appendScript;

/** Whether the disk can write and sync in one step. */
interface Disk {
  readonly canSyncWrites: boolean;
}

async function changesOf(script: Script, options: JsonlSinkOptions, { canSyncWrites }: Disk): Promise<number> {
  const disk = simulatedDisk();
  disk.faults.canSyncWrites = canSyncWrites;
  await script(open(disk, 'first', options), { ackSeq: -1 });
  return disk.changes();
}

async function cutAt(
  script: Script,
  options: JsonlSinkOptions,
  { canSyncWrites, operations }: Disk & { readonly operations: number },
): Promise<[SimulatedDisk, Promises]> {
  const disk = simulatedDisk();
  disk.faults.canSyncWrites = canSyncWrites;
  const promised: Promises = { ackSeq: -1 };
  disk.faults.operationsLeft = operations;
  const store = open(disk, 'first', options);
  await script(store, promised).catch(() => undefined);
  // What is still under way ends, in errors.
  await store.close().catch(() => undefined);
  return [disk, promised];
}

/** Answers how many records were there. */
async function holdsPromises(disk: SimulatedDisk, promised: Promises, options: JsonlSinkOptions): Promise<number> {
  const reader = open(disk, 'reader', options);
  const seen = await readAll(reader, 'a');
  expect(seen).toEqual(recordsFrom(0, seen.length));
  expect(seen.length).toBeGreaterThan(promised.ackSeq);
  expect((await reader.findRun('a'))?.lastSeq ?? -1).toBe(seen.length - 1);
  expect((await reader.findRun('a'))?.problem).toBeUndefined();
  for await (const { problem } of reader.verify()) expect(problem).toContain('torn');

  const writer = open(disk, 'second', options);
  await writer.append(recordsFrom(seen.length, 3));
  expect(await readAll(writer, 'a')).toEqual(recordsFrom(0, seen.length + 3));
  for await (const problem of writer.verify()) expect(problem).toBeUndefined();
  await writer.close();
  return seen.length;
}

for (const fsync of ['group', 'each'] as const) {
  {
    const script = appendScript;
    for (const canSyncWrites of [false, true]) {
      const how = canSyncWrites ? 'in one step' : 'in two steps';
      test(`a power cut at any operation of appends, fsync ${fsync} ${how}, loses nothing acknowledged and tears nothing`, async () => {
        const options = { ...SMALL, fsync };
        const changes = await changesOf(script, options, { canSyncWrites });
        expect(changes).toBeGreaterThan(25);
        const lengths = new Set<number>();
        for (let operations = 0; operations <= changes; operations += 1) {
          const [disk, promised] = await cutAt(script, options, { canSyncWrites, operations });
          for (const [what, random] of randoms) {
            const left = await holdsPromises(disk.afterPowerCut(random), promised, options).catch((thrown: unknown) => {
              throw new Error(`power cut at operation ${operations}, ${what}`, { cause: thrown });
            });
            lengths.add(left);
          }
        }
        expect(lengths.size).toBeGreaterThan(4);
      });
    }
  }
}

test('with fsync none a flush is what a power cut leaves', async () => {
  const options: JsonlSinkOptions = { ...SMALL, fsync: 'none' };
  const disk = simulatedDisk();
  const store = open(disk, 'first', options);
  await store.append(scriptCalls('a', 20));
  expect(
    await readAll(
      open(
        disk.afterPowerCut(() => 0),
        'second',
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
        'third',
        options,
      ),
      'a',
    ),
  ).toEqual(scriptCalls('a', 20));
});
