/**
 * Cost of hostile values: the time of one `emit` with the value as a result, with redaction and all detectors and without a store,
 * relative to `JSON.stringify` of the same value. Below 1, the agent pays less than for serialising the value once.
 *
 * `npx node bench/input.bench.ts [ROUNDS]`, default 5; the median of the rounds.
 */
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { toJson } from '../src/core/base/to-json.ts';

const rounds = Number(process.argv[2] ?? 5);
const MEGABYTE = 1_000_000;

function graph(levels: number): unknown {
  let value: unknown = { leaf: true };
  for (let level = 0; level < levels; level += 1) value = { left: value, right: value };
  return value;
}

const CASES: readonly (readonly [string, unknown])[] = [
  ['a line of 100 characters', 'an ordinary line of a result '.repeat(4).slice(0, 100)],
  ['an ordinary object', { ok: true, items: Array.from({ length: 20 }, (_, id) => ({ id, name: `item ${id}` })) }],
  ['a text of 1 MB', JSON.parse(JSON.stringify('a line of a log\n'.repeat(MEGABYTE / 16)))],
  ['a text of 100 MB', JSON.parse(JSON.stringify('a line of a log\n'.repeat((100 * MEGABYTE) / 16)))],
  ['80,000 members', Object.fromEntries(Array.from({ length: 80_000 }, (_, index) => [`member ${index}`, index]))],
  ['shared references, 2^20 leaves', graph(20)],
  ['bytes, 10 MB', new Uint8Array(10 * MEGABYTE)],
];

function medianMs(work: () => void): number {
  const times = Array.from({ length: rounds }, () => {
    const begun = performance.now();
    work();
    return performance.now() - begun;
  });
  return times.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
}

const run = createCoxswain().startRun();
let id = 0;
let written = 0;
// Warms up the compiler.
for (let round = 0; round < 2_000; round += 1) {
  run.emit({
    type: 'tool_execution_end',
    toolCallId: `w${round}`,
    toolName: 'bash',
    result: CASES[1]?.[1],
    isError: false,
  });
}
for (const [name, result] of CASES) {
  const emitMs = medianMs(() => {
    id += 1;
    run.emit({ type: 'tool_execution_end', toolCallId: `c${id}`, toolName: 'bash', result, isError: false });
  });
  const gateMs = medianMs(() => void toJson(result));
  const textMs = medianMs(() => {
    written += JSON.stringify(result).length;
  });
  const ratio = (ms: number): string => `${(ms / textMs).toFixed(3)}x`;
  console.log(
    `${name.padEnd(32)} emit ${emitMs.toFixed(3)} ms (${ratio(emitMs)}), the gate alone ${gateMs.toFixed(3)} ms (${ratio(gateMs)}), JSON.stringify ${textMs.toFixed(3)} ms`,
  );
}
if (written === 0) throw new Error('nothing was written');
