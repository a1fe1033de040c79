import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { inFaults, rounds, thorough } from '../../../test/support/rounds.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { readAll } from '../../../test/support/script-records.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { CutDisk, noTracing, traceScript, type DiskStep } from '../../../test/support/traced-disk.ts';
import { sqliteStore } from './sqlite-store.ts';
import { HANGS_AFTER_MS } from '../../../test/support/hangs-after.ts';
import { builtModule } from '../../../test/support/built-module.ts';

/** Power cuts per script; 0 is one before and one after every call that changes the disk. */
const CUTS = rounds({ full: 60, short: 10 });
const FILE = join('store', 'runs.db');

const PARTS = `
  import { writeSync } from 'node:fs';
  import { sqliteStore } from ${JSON.stringify(builtModule('stores/sqlite/sqlite-store'))};
  import { sqliteOneShot } from ${JSON.stringify(new URL('./sqlite-one-shot.ts', import.meta.url).href)};
  const [, file, mode] = process.argv;
  const textAt = (runId, seq) => (runId + ' ' + seq + ' ').repeat(runId === 'big' ? 20_000 : 1 + seq % 40);
  const record = (runId, seq) => ({ schema_version: 1, seq, run_id: runId, depth: 0, recorded_at_unix_ms: 1 + seq,
    payload: { kind: 'compaction', trigger: textAt(runId, seq) } });
  const step = async (store, runId, count) => {
    const last = await store.transact(runId, ({ nextSeq }) => ({ snapshot: nextSeq + count - 1, result: nextSeq + count - 1,
      records: Array.from({ length: count }, (_, index) => record(runId, nextSeq + index)) }));
    writeSync(1, runId + ' ' + last + '\\n');
  };`;

/** A long-lived writer: the file is made, written to, closed, opened again, and its log outgrown, so that it is reset. */
const LONG_LIVED = `${PARTS}
  let store = sqliteStore(file, { fsync: mode });
  for (let round = 0; round < 3; round += 1) await Promise.all([step(store, 'a', 2), step(store, 'b', 1), step(store, 'a', 1)]);
  await store.close();
  writeSync(1, 'closed\\n');
  store = sqliteStore(file, { fsync: mode });
  await step(store, 'a', 3);
  for (let round = 0; round < 30; round += 1) await step(store, 'big', 1);
  for (let round = 0; round < 4; round += 1) await step(store, 'b', 2);
  await store.search({ text: 'a' });
  await step(store, 'b', 1);
  await store.close();
  writeSync(1, 'closed\\n');`;

/** A process that takes one step and exits, like a hook. */
const ONE_SHOT = `${PARTS}
  const store = sqliteOneShot(file, { timeoutMs: ${HANGS_AFTER_MS} });
  await step(store, mode, 2);
  await store.close();`;

function textAt(runId: string, seq: number): string {
  return `${runId} ${seq} `.repeat(runId === 'big' ? 20_000 : 1 + (seq % 40));
}

/** A power cut loses all unsynced writes or some of them, which is worse for code that relies on their order. */
const RANDOMS: readonly ((cut: number) => () => number)[] = [
  () => () => 0,
  (cut) => seededRandom(cut),
  (cut) => seededRandom(-cut),
];

/** The places to cut: around each call that ends what may be left, and others evenly between. */
function placesIn(steps: readonly DiskStep[]): readonly number[] {
  const all = steps.flatMap((step, index) => (step.kind === 'print' ? [] : [index, index + 1]));
  if (CUTS === 0) return [...new Set(all)];
  const telling = steps.flatMap((step, index) => (step.kind === 'write' ? [] : [index, index + 1]));
  const spread = (places: readonly number[]): readonly number[] =>
    Array.from(
      { length: CUTS / 2 },
      (_, index) => places[Math.floor(((index + 0.5) * places.length) / (CUTS / 2))] ?? 0,
    );
  return [...new Set([...spread(telling), ...spread(all)])].sort((one, other) => one - other);
}

async function cutEverywhere(steps: readonly DiskStep[], needsClose: boolean): Promise<readonly number[]> {
  const places = new Set(placesIn(steps));
  const disk = new CutDisk();
  const printed = new Map<string, number>();
  let promised: ReadonlyMap<string, number> = new Map();
  const left: number[] = [];
  for (let index = 0; index <= steps.length; index += 1) {
    if (places.has(index)) {
      const random = RANDOMS[left.length % RANDOMS.length]?.(index) ?? Math.random;
      left.push(
        await holdsPromises(disk, random, promised).catch((thrown: unknown) => {
          throw new Error(`power cut before call ${index} of ${steps.length}`, { cause: thrown });
        }),
      );
    }
    const step = steps[index];
    if (step === undefined) break;
    disk.apply(step);
    if (step.kind !== 'print') continue;
    const [runId = '', seq] = step.text.trim().split(' ');
    if (seq !== undefined) printed.set(runId, Number(seq));
    if (!needsClose || runId === 'closed') promised = new Map(printed);
  }
  return left;
}

/** Answers how many records were there. */
async function holdsPromises(
  disk: CutDisk,
  random: () => number,
  promised: ReadonlyMap<string, number>,
): Promise<number> {
  const folder = await tempFolder();
  try {
    disk.writeCut(folder.path, random);
    const store = sqliteStore(join(folder.path, FILE));
    let count = 0;
    expect(await Array.fromAsync(store.verify())).toEqual([]);
    for (const runId of ['a', 'b', 'big']) {
      const records = await readAll(store, runId);
      expect(records.length).toBeGreaterThan(promised.get(runId) ?? -1);
      expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index));
      const texts = records.map(({ payload }) => (payload.kind === 'compaction' ? payload.trigger : ''));
      expect(texts.every((text, seq) => text === textAt(runId, seq))).toBe(true);
      await store.transact(runId, ({ nextSeq, snapshot, snapshotSeq }) => {
        // A transaction is atomic: its snapshot covers its records.
        expect([nextSeq, snapshot ?? -1, snapshotSeq]).toEqual([
          records.length,
          records.length - 1,
          records.length - 1,
        ]);
        return { records: [], snapshot: nextSeq - 1, result: undefined };
      });
      count += records.length;
    }
    await store.close();
    return count;
  } finally {
    await folder.dispose();
  }
}

/** A folder that a store is made in, and what is done there. */
async function traced(scripts: readonly (readonly [script: string, mode: string])[]): Promise<readonly DiskStep[]> {
  const folder = await tempFolder();
  onTestFinished(() => folder.dispose());
  const root = join(folder.path, 'disk');
  await mkdir(root);
  const steps = scripts.flatMap(([script, mode]) => traceScript(script, [join(root, FILE), mode], root));
  // The trace has everything: done again, it gives the files that are there.
  const disk = new CutDisk();
  for (const step of steps) disk.apply(step);
  const copy = join(folder.path, 'copy');
  await mkdir(copy);
  disk.writeCut(copy, () => 1);
  const names = (await readdir(join(root, 'store'))).filter((name) => !name.endsWith('-shm'));
  expect((await readdir(join(copy, 'store'))).sort()).toEqual(names.sort());
  for (const name of names) {
    const [is, was] = await Promise.all([readFile(join(copy, 'store', name)), readFile(join(root, 'store', name))]);
    expect([name, is.equals(was)]).toEqual([name, true]);
  }
  return steps;
}

const skip = noTracing === undefined ? '' : ` (skipped: ${noTracing})`;
/** `npm test` cuts the power of one writer, in the default mode. */
const skipMore = skip === '' ? inFaults : skip;
const isShort = noTracing !== undefined || !thorough;

for (const [mode, keeps, states] of [
  ['group', 'nothing that was acknowledged', 20],
  ['each', 'nothing that was acknowledged', 20],
  ['none', 'nothing from before a close, and leaves a sound file', 3],
] as const) {
  const isFirst = mode === 'group';
  test.skipIf(isFirst ? noTracing !== undefined : isShort)(
    `a power cut around the calls of a writer, fsync ${mode}, loses ${keeps}${isFirst ? skip : skipMore}`,
    async () => {
      const steps = await traced([[LONG_LIVED, mode]]);
      // The log was begun three times: when the file was made, when it was opened again, and when it was full.
      const begun = steps.filter((step) => step.kind === 'write' && step.path === `${FILE}-wal` && step.at === 0);
      expect(begun).toHaveLength(3);
      const left = await cutEverywhere(steps, mode === 'none');
      expect(new Set(left).size).toBeGreaterThanOrEqual(thorough ? states : 3);
    },
    60_000 * (CUTS === 0 ? 6000 : CUTS),
  );
}

test.skipIf(isShort)(
  `a power cut around the calls of processes that take one step each loses nothing that was acknowledged${skipMore}`,
  async () => {
    const steps = await traced(['a', 'b', 'a', 'a', 'b', 'a', 'big'].map((runId) => [ONE_SHOT, runId] as const));
    const left = await cutEverywhere(steps, false);
    expect(new Set(left).size).toBeGreaterThan(5);
  },
  60_000 * (CUTS === 0 ? 6000 : CUTS),
);

test.skipIf(noTracing !== undefined)(
  `a writer that does not wait for the disk fails the same trial, so the trial can fail${skip}`,
  async () => {
    const steps = await traced([[LONG_LIVED, 'none']]);
    await expect(cutEverywhere(steps, false)).rejects.toThrow(/power cut before call/);
  },
);
