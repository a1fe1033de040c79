/**
 * Cost of a backtest on copies of the corpus of recorded SQL runs in `../shared`, as uncompressed files:
 *
 * - on one pinned core, relative to a loop that only reads and JSON-parses the same files (processor time);
 * - with two threads relative to one, on two cores (wall time).
 *
 * Start-up is excluded: on one core, each side first runs once on the corpus; threads start and compile in every backtest, so the time
 * for two files is subtracted. The ratio including start-up is printed too. Sides alternate, and medians are compared.
 *
 * `npx node bench/backtest.bench.ts [COPIES] [ROUNDS]`, default 10 and 3.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

import { backtest } from '../src/lab/backtest.ts';
import { sharedPath } from '../test/support/shared-data.ts';
import { bundlePrograms } from '../scripts/test-programs.ts';

const PINNED = 'pinned';
/** Linux only; other systems pin nothing. */
const PIN_TO_CORE = 'taskset';
const copies = Number(process.argv[2] ?? 10);
const rounds = Number(process.argv[3] ?? 3);

function parseOnly(paths: readonly string[]): void {
  for (const path of paths) {
    for (const line of readFileSync(path, 'utf8').split('\n')) if (line !== '') JSON.parse(line);
  }
}

type Meter = (work: () => unknown) => Promise<number>;

const wallSeconds: Meter = async (work) => {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1_000;
};

/** Processor time of this process, so other processes on the pinned core do not count. */
const processorSeconds: Meter = async (work) => {
  const from = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1e6;
};

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Measures two functions alternately. @returns the median ratio of their times */
async function ratio(
  seconds: Meter,
  first: () => unknown,
  second: () => unknown,
): Promise<{ ratio: number; times: string }> {
  const ratios: number[] = [];
  const times: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [one, two] = [await seconds(first), await seconds(second)];
    ratios.push(one / two);
    times.push(`${one.toFixed(2)} s / ${two.toFixed(2)} s`);
  }
  return { ratio: median(ratios), times: times.join(', ') };
}

async function againstParsing(paths: readonly string[]): Promise<void> {
  parseOnly(paths.slice(0, 1));
  await backtest(paths.slice(0, 1));
  const found = await ratio(
    processorSeconds,
    () => parseOnly(paths),
    () => backtest(paths),
  );
  console.log(`JSON.parse alone / backtest, one core   ${found.ratio.toFixed(3)}   (${found.times})`);
}

async function againstOneThread(paths: readonly string[]): Promise<void> {
  // Bundled as in the published package; from source, each thread would compile all modules first.
  const programs = await bundlePrograms();
  try {
    await measureThreads(paths);
  } finally {
    rmSync(programs, { recursive: true, force: true });
  }
}

/** Files that keep two threads busy while they start. */
const STARTING_FILES = 2;

async function measureThreads(paths: readonly string[]): Promise<void> {
  const first = paths.slice(0, STARTING_FILES);
  const [whole, running]: [number[], number[]] = [[], []];
  const times: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const one = { first: await wallSeconds(() => backtest(first)), all: await wallSeconds(() => backtest(paths)) };
    const two = {
      first: await wallSeconds(() => backtest(first, { workers: 2 })),
      all: await wallSeconds(() => backtest(paths, { workers: 2 })),
    };
    whole.push(one.all / two.all);
    running.push((one.all - one.first) / (two.all - two.first));
    times.push(`${one.all.toFixed(2)} s / ${two.all.toFixed(2)} s`);
  }
  console.log(
    `one thread / two threads, two cores     ${median(running).toFixed(2)}   without the start of the threads`,
  );
  console.log(`  the same with it                      ${median(whole).toFixed(2)}   (${times.join(', ')})`);
}

async function main(): Promise<void> {
  const corpus = sharedPath('trajectories', 'intercode_sql.jsonl.gz');
  if (corpus === undefined) {
    console.log('skipped: the corpus does not lie beside the checkout');
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-bench-'));
  try {
    const text = gunzipSync(readFileSync(corpus));
    const paths = Array.from({ length: copies }, (_, index) => join(folder, `copy-${index}.jsonl`));
    for (const path of paths) writeFileSync(path, text);
    console.log(`${copies} files of ${(text.length / 1e6).toFixed(0)} MB, median of ${rounds}`);
    const self = fileURLToPath(import.meta.url);
    const args = ['-c', '1', process.execPath, self, String(copies), String(rounds), PINNED, ...paths];
    const pinned = spawnSync(PIN_TO_CORE, args, { stdio: 'inherit' });
    if (pinned.error !== undefined) await againstParsing(paths);
    await againstOneThread(paths);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[4] === PINNED) await againstParsing(process.argv.slice(5));
else await main();
