/**
 * Cost of `emit`: the time of one with the value as a result, with redaction and all detectors and without a store, relative to
 * `JSON.stringify` of the same value. First for ordinary results, each different from the last, then for hostile values.
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
    result: CASES[0]?.[1],
    isError: false,
  });
}
const WORDS = 'the quick path error of src index test returns value code server fails while passes line'.split(' ');
for (const size of [100, 1_000, 10_000, 100_000]) {
  const results = Array.from({ length: 300 }, (_, index) => {
    let state = index + 1;
    const words = Array.from({ length: size / 4 }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return `${WORDS[state % WORDS.length]}${state % 11 === 0 ? '\n' : ' '}`;
    });
    return Buffer.from(words.join('').slice(0, size)).toString();
  });
  const medianOf = (work: (result: string) => void): number => {
    const times = results.map((result) => {
      const begun = performance.now();
      work(result);
      return performance.now() - begun;
    });
    return times.toSorted((a, b) => a - b)[150] ?? 0;
  };
  const ordinary = createCoxswain().startRun();
  const emitMs = medianOf((result) => {
    const call = { toolCallId: `o${(id += 1)}`, toolName: 'bash' };
    ordinary.emit({ type: 'tool_execution_end', ...call, result, isError: false });
  });
  const textMs = medianOf((result) => {
    written += JSON.stringify(result).length;
  });
  const figures = `${(emitMs * 1_000).toFixed(0)} µs (${(emitMs / textMs).toFixed(1)}x), JSON.stringify ${(textMs * 1_000).toFixed(1)} µs`;
  console.log(`a result of ${size} characters`.padEnd(33) + `emit ${figures}`);
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
