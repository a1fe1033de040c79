/**
 * Cost of analysis. Run: `node --expose-gc bench/fold.bench.ts`. For short and long results, prints the median and the 99th percentile of
 * folding a call through all default detectors, relative to the median of `JSON.stringify` of the same two records in the same run; then
 * the cost after a million calls relative to the start, the size of the snapshot, and the heap size of a run's state.
 */
import type { TrajectoryPayload, TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { defaultDetectors } from '../src/core/detect/detectors/default-detectors.ts';
import { TrajectoryAnalysis } from '../src/core/detect/patterns/trajectory-analysis.ts';

type Call = readonly TrajectoryRecord[];

const WARM_CALLS = 20_000;
const EARLY = 1_000;
const LATE = 1_000_000;
/** Number of runs in memory to measure the heap size of one. */
const CROWD = 50;
const STRETCH = 500;
const STRETCHES = 41;

const WORDS =
  'import { readFile } from the session store, line 12: const value = await load(path, 42); keeps the order of each entry; return value ?? fallback // 0.5 of them in module export function next "quoted" [x] done'.split(
    ' ',
  );

/** Text that depends on `seed` everywhere, with line breaks, numbers and punctuation like tool output. */
function textOf(seed: number, chars: number): string {
  const parts: string[] = [`result ${seed}`];
  let length = 0;
  for (let at = seed; length < chars; at += 1) {
    const word = `${WORDS[(at * 7 + seed) % WORDS.length] ?? ''}${at % 11 === 0 ? '\n' : ' '}`;
    parts.push(word);
    length += word.length;
  }
  // A flat string, as in a decoded record.
  return JSON.parse(JSON.stringify(parts.join('').slice(0, chars)));
}

/** Every third call is a shell command, each with different words. */
function argsOf(index: number): { readonly tool: string; readonly args: Readonly<Record<string, string | number>> } {
  const file = `src/module-${index % 997}/part-${index % 89}.ts`;
  if (index % 3 === 0) {
    return { tool: 'Bash', args: { command: `cd /repo && grep -rn "name${index}" ${file} | head -${index % 40}` } };
  }
  if (index % 3 === 1) return { tool: 'Read', args: { file_path: `/repo/${file}`, offset: index, limit: 200 } };
  return {
    tool: 'Edit',
    args: { file_path: `/repo/${file}`, old_string: `const a = ${index};`, new_string: `const b = ${index + 1};` },
  };
}

function callOf(index: number, resultChars: number): Call {
  const { tool, args } = argsOf(index);
  const id = `toolu_${index}`;
  const payloads: readonly TrajectoryPayload[] = [
    { kind: 'tool_started', tool_call_id: id, tool_name: tool, args },
    {
      kind: 'tool_ended',
      tool_call_id: id,
      tool_name: tool,
      result: textOf(index, resultChars),
      is_error: false,
      duration_ms: 12,
    },
  ];
  return payloads.map((payload, at) => ({
    schema_version: 1,
    seq: 2 * index + at,
    run_id: 'run-0001',
    depth: 0,
    recorded_at_unix_ms: 1_750_000_000_000 + index * 1_000,
    payload,
  }));
}

function nanoseconds(work: () => void): number {
  const began = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - began);
}

function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function foldAll(analysis: TrajectoryAnalysis, call: Call): void {
  for (const record of call) analysis.fold(record);
}

let written = 0;
function stringifyAll(call: Call): void {
  for (const record of call) written += JSON.stringify(record).length;
}

function measure(resultChars: number, calls: number): void {
  const analysis = new TrajectoryAnalysis({ detectors: defaultDetectors() });
  const folds: number[] = [];
  const texts: number[] = [];
  for (let index = 0; index < calls; index += 1) {
    const call = callOf(index, resultChars);
    texts.push(nanoseconds(() => stringifyAll(call)));
    folds.push(nanoseconds(() => foldAll(analysis, call)));
  }
  // The first half warms up the compiler.
  const half = Math.floor(calls / 2);
  const unit = quantile(texts.slice(half), 0.5);
  const median = quantile(folds.slice(half), 0.5);
  const p99 = quantile(folds.slice(half), 0.99);
  console.log(
    `${resultChars} characters: JSON.stringify ${(unit / 1e3).toFixed(1)} us, fold median ${(median / 1e3).toFixed(1)} us ` +
      `(${(median / unit).toFixed(2)}x), p99 ${(p99 / 1e3).toFixed(1)} us (${(p99 / unit).toFixed(2)}x)`,
  );
}

function stretchTime(analysis: TrajectoryAnalysis, calls: readonly Call[]): number {
  return nanoseconds(() => {
    for (const call of calls) foldAll(analysis, call);
  });
}

function heapMegabytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

function flatness(): void {
  const pool = Array.from({ length: 5_000 }, (_, at) => callOf(at, 400));
  const take = (analysis: TrajectoryAnalysis, from: number, to: number): void => {
    for (let index = from; index < to; index += 1) foldAll(analysis, pool[index % pool.length] ?? []);
  };
  const start = (): TrajectoryAnalysis => new TrajectoryAnalysis({ detectors: defaultDetectors() });
  take(start(), 0, WARM_CALLS);
  const old = start();
  take(old, 0, LATE);
  const heapBefore = heapMegabytes();
  const crowd = Array.from({ length: CROWD }, start);
  for (const one of crowd) take(one, 0, 2 * EARLY);
  const heap = (heapMegabytes() - heapBefore) / crowd.length;
  const early: number[] = [];
  const late: number[] = [];
  for (let round = 0; round < STRETCHES; round += 1) {
    // New calls for both: known calls take another path.
    const stretch = Array.from({ length: STRETCH }, (_, at) => callOf(LATE + round * STRETCH + at, 400));
    const young = start();
    take(young, 0, EARLY);
    early.push(stretchTime(young, stretch));
    late.push(stretchTime(old, stretch));
  }
  const ratio = quantile(late, 0.5) / quantile(early, 0.5);
  console.log(`a call after ${LATE} calls takes ${ratio.toFixed(2)}x of one after ${EARLY}`);
  console.log(
    `snapshot ${(JSON.stringify(old.snapshot()).length / 1_024).toFixed(0)} KiB, state of a run ${heap.toFixed(2)} MiB of heap`,
  );
}

measure(400, 2 * WARM_CALLS);
measure(50_000, 2_000);
flatness();
if (written === 0) throw new Error('nothing was written');
