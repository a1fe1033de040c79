/**
 * Cost of steering per call: emit (turn, start, end) and advise at every decision point, with the standard steering and all detectors, at
 * call 1,000 and at call 1,000,000, as a ratio; and both relative to `JSON.stringify` of the same tool record.
 *
 * `npx node --expose-gc bench/steering.bench.ts [CALLS]`, default 1,000,000.
 */
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { standardSteering } from '../src/core/steering/standard-steering.ts';

const total = Number(process.argv[2] ?? 1_000_000);
const WINDOW = 2_000;
let now = 1_700_000_000_000;
const cox = createCoxswain({ ...standardSteering(), clock: { nowMs: () => now } });
const limits = { deadline: { hours: 100_000 }, budget: { calls: 10 * total } };
const aged = cox.startRun(limits);
const young = cox.startRun(limits);
let run = aged;

function resultOf(index: number): string {
  return `line ${index} ${'of an ordinary result that goes on for a while; '.repeat(8)}`.slice(0, 400);
}

/** A realistic mix: reads, shell calls, edits; some repeat, some fail. */
function callOf(index: number): {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly fails: boolean;
} {
  const round = index % 9;
  if (round < 3)
    return { tool: 'bash', args: { command: `grep -rn name${index % 400} src | head -${round}` }, fails: false };
  if (round === 3) return { tool: 'bash', args: { command: 'npm test' }, fails: index % 2 === 0 };
  if (round < 6) return { tool: 'read_file', args: { path: `src/file${index % 500}.ts` }, fails: false };
  if (round === 6)
    return { tool: 'edit_file', args: { path: `src/file${index % 500}.ts`, old: 'a', new: `b${index}` }, fails: false };
  return { tool: 'search', args: { q: `symbol ${index % 300}` }, fails: round === 8 && index % 5 === 0 };
}

function step(index: number): void {
  const { tool, args, fails } = callOf(index);
  const toolCallId = `call-${index}`;
  now += 3_000;
  run.advise('pre_render');
  run.emit({ type: 'turn_start' });
  run.advise('pre_tool_selection');
  run.emit({ type: 'tool_execution_start', toolCallId, toolName: tool, args });
  run.advise('pre_tool_execution', { pendingToolCalls: [{ toolCallId, toolName: tool, args }] });
  run.emit({ type: 'tool_execution_end', toolCallId, toolName: tool, result: resultOf(index), isError: fails });
  for (const advice of run.advise('post_tool_result')) advice.delivered('bench');
  run.advise('pre_response');
}

function measure(from: number, work: (index: number) => void, count = WINDOW): number[] {
  const times: number[] = [];
  for (let index = from; index < from + count; index += 1) {
    const started = process.hrtime.bigint();
    work(index);
    times.push(Number(process.hrtime.bigint() - started));
  }
  return times.sort((a, b) => a - b);
}

function at(times: readonly number[], share: number): number {
  return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
}

function stringify(index: number): void {
  const { tool, args, fails } = callOf(index);
  JSON.stringify({
    seq: index,
    run_id: 'run',
    payload: { kind: 'tool_ended', tool, args, result: resultOf(index), fails },
  });
}

for (let index = 0; index < total; index += 1) step(index);
run = young;
for (let index = 0; index < 1_000; index += 1) step(index);
globalThis.gc?.();
// Alternates, so other load affects both.
const early: number[] = [];
const late: number[] = [];
for (let round = 0; round < WINDOW; round += 100) {
  run = young;
  early.push(...measure(1_000 + round, step, 100));
  run = aged;
  late.push(...measure(total + round, step, 100));
}
early.sort((a, b) => a - b);
late.sort((a, b) => a - b);
const base = measure(0, stringify);
const snapshot = JSON.stringify(aged.snapshot());
console.log(
  `per call: emit x3 + advise at 5 points, ${total.toLocaleString('en')} calls, standard steering, all detectors`,
);
console.log(`median late / median early     ${(at(late, 0.5) / at(early, 0.5)).toFixed(2)}`);
console.log(`median / JSON.stringify median ${(at(late, 0.5) / at(base, 0.5)).toFixed(1)}`);
console.log(`p99 / JSON.stringify median    ${(at(late, 0.99) / at(base, 0.5)).toFixed(1)}`);
console.log(
  `heap used ${(process.memoryUsage().heapUsed / 1e6).toFixed(0)} MB, snapshot ${(snapshot.length / 1e3).toFixed(0)} kB`,
);
console.log(`patterns noticed ${aged.analysis.patterns().length} kept, faults ${cox.health().faults}`);
