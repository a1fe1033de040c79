/**
 * Cost of classifiers. Run: `node bench/guidance.bench.ts`. Prints median and 99th percentile of each in nanoseconds and relative to
 * `JSON.stringify` of a typical record in the same run, on a run of 1,000 calls.
 */
import { defaultDetectors } from '../src/patterns/detectors/default-detectors.ts';
import type { Classifier } from '../src/steering/guidance/classifier.ts';
import { allOf, anyOf, not, threshold } from '../src/steering/guidance/combine-classifiers.ts';
import { consultationPrompt, diagnosticSignal } from '../src/steering/guidance/failure-guidance.ts';
import { doomLoop, doomLoopGuidance } from '../src/steering/guidance/doom-loop.ts';
import {
  errorStreak,
  highToolCount,
  largeOutput,
  progressStall,
  recentFailures,
  singleToolRepeated,
} from '../src/steering/guidance/threshold-classifiers.ts';
import { EMPTY_GUIDANCE_STATE, evaluateGuidance } from '../src/steering/guidance/evaluate-guidance.ts';
import { parallelToolReminder, sequentialWhenParallel } from '../src/steering/guidance/sequential-when-parallel.ts';
import { sensitiveContentPending } from '../src/steering/guidance/sensitive-content-pending.ts';
import type { GuidanceContext } from '../src/steering/prompt/guidance-provider.ts';
import { guidanceContext, scriptAnalysis, type ScriptedCall } from '../test/support/guidance-script.ts';
import { scriptRecord } from '../src/testing/record-script.ts';

const CALLS = 1_000;
const WARM_UP = 20_000;
const SAMPLES = 4_000;
/** Evaluations per measurement, because one is shorter than the clock's resolution. */
const BATCH = 25;

// Every third call fails with a long command, so no classifier returns early.
const calls = Array.from({ length: CALLS }, (_, index): ScriptedCall => {
  const command = `cargo test --package core --lib -- module_${index % 7}::case_${index % 11} --exact --nocapture`;
  return index % 3 === 0
    ? { tool: 'bash', args: { command }, failed: true, result: `error[E0308]: mismatched types in case ${index % 5}` }
    : { tool: 'bash', args: { command }, result: `line ${index}\n`.repeat(40) };
});
const content = 'export function add(one: number, other: number): number {\n  return one + other;\n}\n'.repeat(12);
const context = guidanceContext({
  trajectory: scriptAnalysis(calls, defaultDetectors()),
  pendingToolCalls: [{ toolCallId: 'next', toolName: 'write_file', args: { path: 'src/add.ts', content } }],
  decisionPoint: 'post_tool_result',
});
/** The same without detectors: without open patterns, classifiers compare the window itself. */
const undetected: GuidanceContext = { ...context, trajectory: scriptAnalysis(calls, []) };
const record = scriptRecord({
  runId: 'run',
  seq: 17,
  payload: { kind: 'tool_ended', tool_call_id: 'c', tool_name: 'bash', result: 'x'.repeat(700), is_error: false },
});

const classifiers: readonly Classifier[] = [
  errorStreak(),
  recentFailures(),
  doomLoop(),
  progressStall(),
  highToolCount(),
  singleToolRepeated(),
  sequentialWhenParallel(),
  largeOutput(),
  sensitiveContentPending(),
  allOf(anyOf(errorStreak(), doomLoop()), not(threshold(highToolCount(), 0.9))),
];
const configs = [diagnosticSignal(), doomLoopGuidance(), consultationPrompt(), parallelToolReminder()].map(
  (provider) => ({ provider }),
);

interface Cost {
  readonly median: number;
  readonly p99: number;
}

let sink = 0;

function costOf(run: () => unknown): Cost {
  for (let index = 0; index < WARM_UP; index += 1) if (run() === undefined) sink += 1;
  const times: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const began = process.hrtime.bigint();
    for (let index = 0; index < BATCH; index += 1) if (run() === undefined) sink += 1;
    times.push(Number(process.hrtime.bigint() - began) / BATCH);
  }
  times.sort((one, other) => one - other);
  return { median: times[Math.floor(SAMPLES / 2)] ?? Number.NaN, p99: times[Math.floor(SAMPLES * 0.99)] ?? Number.NaN };
}

const base = costOf(() => JSON.stringify(record));

function print(name: string, { median, p99 }: Cost): void {
  const ratios = `${(median / base.median).toFixed(2)}x, p99 ${(p99 / base.p99).toFixed(2)}x`;
  console.log(
    `${name.padEnd(64)} ${median.toFixed(0).padStart(7)} ns, p99 ${p99.toFixed(0).padStart(7)} ns   ${ratios}`,
  );
}

print(`JSON.stringify of a record of ${JSON.stringify(record).length} characters`, base);
for (const classifier of classifiers)
  print(
    classifier.name,
    costOf(() => classifier.classify(context)),
  );
for (const windowSize of [5, 32]) {
  const classifier = doomLoop({ windowSize });
  const cost = costOf(() => classifier.classify(undetected));
  print(`doom_loop, no pattern open, window ${windowSize}`, cost);
}
print(
  'evaluateGuidance, the four built-in providers',
  costOf(() => evaluateGuidance(configs, context, EMPTY_GUIDANCE_STATE)),
);
if (sink > 0) console.log(`${sink} runs gave nothing`);
