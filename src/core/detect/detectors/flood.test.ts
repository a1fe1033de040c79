import { expect, test } from 'vitest';
import { firstFlag, scriptedRun, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { cpuMs } from '../../../../test/support/cost-growth.ts';
import { floodDetector } from './flood.ts';

const list: ScriptedCall = { tool: 'list', args: { path: '.' }, result: 'a\nb\nsrc', turn: 1 };
const read: ScriptedCall = { tool: 'read', args: { path: 'a' }, result: 'the text of a', turn: 1 };
const unknown: ScriptedCall = { tool: 'run', args: { command: 'ls' }, result: "no tool 'run'", isError: true, turn: 1 };

test('a turn that holds three of its calls again is flagged at the third, whichever they are, also if they fail', () => {
  expect(firstFlag(floodDetector(), times(6, list))).toBe(3);
  expect(firstFlag(floodDetector(), [list, read, unknown, list, read, unknown])).toBe(5);
});

test('three equal calls are flagged in a turn of more than a handful', () => {
  expect(firstFlag(floodDetector(), [list, list, read, list])).toBeNull();
  expect(firstFlag(floodDetector(), [list, list, read, list, unknown])).toBe(4);
});

test('its number is that of the calls which the turn held already, in a turn of any size', () => {
  for (const calls of [4, 5, 8]) {
    const { analysis } = scriptedRun(times(calls, list), { detectors: [floodDetector()] });
    expect(analysis.patterns()[0]?.occurrences).toBe(calls - 1);
  }
});

test('two repetitions, those of several turns, and other results are not flagged', () => {
  expect(firstFlag(floodDetector(), [list, read, list, unknown, read])).toBeNull();
  expect(
    firstFlag(
      floodDetector(),
      times(8, (turn) => ({ ...list, turn })),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      floodDetector(),
      times(8, (at) => ({ ...list, result: `${at} a\nb\nsrc ${'abcdefgh'[at]}` })),
    ),
  ).toBeNull();
});

test('polls, acknowledgements and actions on a screen of one turn are not flagged', () => {
  const others: readonly ScriptedCall[] = [
    { tool: 'write', args: { path: 'a', content: 'x' }, result: 'ok', turn: 1 },
    { tool: 'press_key', args: { key: 'Down' }, result: 'ok', turn: 1 },
    { tool: 'get_status', args: { job: 1 }, result: 'status: running', turn: 1 },
  ];
  for (const call of others) expect(firstFlag(floodDetector(), times(8, call))).toBeNull();
});

test('thousands of calls of one turn take no longer than those of many turns, by a factor', () => {
  const cost = (turnOf: (at: number) => number): number => {
    const calls = Array.from({ length: 3_000 }, (_, at) => ({ ...read, args: { path: `f${at}` }, turn: turnOf(at) }));
    // Collection and compilation weigh on single rounds.
    return Math.min(...[1, 2, 3].map(() => cpuMs(() => firstFlag(floodDetector(), calls))));
  };
  expect(cost(() => 1)).toBeLessThan(8 * cost((at) => at));
});

test('a long result that the turn holds already is a repeat, however the call is written; a long failure is not', () => {
  const page = 'a line of the page that is read\n'.repeat(40);
  const ways = ['cat a', 'sed -n 1,200p a', 'cat ./a', 'cat a 2>&1'];
  const reads = (result: string, isError = false): readonly ScriptedCall[] =>
    ways.map((command) => ({ tool: 'bash', args: { command }, result, isError, turn: 1 }));
  expect(firstFlag(floodDetector(), reads(page))).toBe(3);
  expect(firstFlag(floodDetector(), reads(page.slice(0, 500)))).toBeNull();
  expect(firstFlag(floodDetector(), reads(page, true))).toBeNull();
});

test('calls that fail in the same way count in a turn that repeats a call, and not in one that repeats none', () => {
  const edit = (path: string): ScriptedCall => ({
    tool: 'edit',
    args: { path, old: 'a', new: 'b' },
    result: "Error: Unknown command 'replace'. Allowed: view, create",
    isError: true,
    turn: 1,
  });
  expect(firstFlag(floodDetector(), ['a.py', './a.py', 'src/a.py', '/b/a.py', 'a.py'].map(edit))).toBe(4);
  expect(firstFlag(floodDetector(), ['a.py', 'b.py', 'c.py', 'd.py', 'e.py'].map(edit))).toBeNull();
});
