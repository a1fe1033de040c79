import { expect, test } from 'vitest';
import { firstFlag, scriptedRun, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { repeatedErrorDetector } from './repeated-error.ts';
import { sameFailureDetector } from './same-failure.ts';

const edit = (at: number): ScriptedCall => ({ tool: 'write', args: { path: 'f', content: `${at}` }, result: 'ok' });
const check = (result: string): ScriptedCall => ({ tool: 'Bash', args: { command: 'pytest' }, result, isError: true });
const rounds = (count: number, result: (at: number) => string): readonly ScriptedCall[] =>
  times(2 * count, (at) => (at % 2 === 0 ? check(result(at / 2)) : edit(at)));

test('the same failure after four changes is flagged, after three it is not', () => {
  expect(
    firstFlag(
      sameFailureDetector(),
      rounds(5, () => 'AssertionError: 1 != 2'),
    ),
  ).toBe(8);
  expect(
    firstFlag(
      sameFailureDetector(),
      rounds(4, () => 'AssertionError: 1 != 2'),
    ),
  ).toBeNull();
});

test('the same line of a program after four changes is flagged, however it is called and whatever else it prints', () => {
  const flags = ['-q', '-x', '-vv', '--tb=short', '-k tz', '-s'];
  const run = (at: number, line: string): ScriptedCall => ({
    tool: 'Bash',
    args: { command: `pytest ${flags[at] ?? ''}` },
    result: `..F ${at} passed\nE   AssertionError: ${line}\n1 failed, ${at} passed in 0.${at}s`,
    isError: true,
  });
  const calls = (line: (at: number) => string): readonly ScriptedCall[] =>
    times(12, (at) => (at % 2 === 0 ? run(at / 2, line(at / 2)) : edit(at)));
  expect(
    firstFlag(
      sameFailureDetector(),
      calls(() => "'3 h' != '1 h'"),
    ),
  ).toBe(8);
  expect(
    firstFlag(
      sameFailureDetector(),
      calls((at) => `case ${at}`),
    ),
  ).toBeNull();
});

test('failures of a check that come back after others are flagged as changes that undo each other', () => {
  const letters = (order: string): readonly ScriptedCall[] =>
    order.split('').flatMap((letter, at) => [check(`error: unknown name ${letter.repeat(4)}`), edit(at)]);
  expect(firstFlag(sameFailureDetector(), letters('abacbdca'))).toBe(14);
  expect(firstFlag(sameFailureDetector(), letters('ababab'))).toBe(10);
  expect(firstFlag(sameFailureDetector(), letters('abcdefgh'))).toBeNull();
  expect(firstFlag(sameFailureDetector(), letters('aabbaabba'))).toBeNull();
});

test('a call that fails with another message makes progress, although the first line is equal', () => {
  const calls = rounds(6, (at) => `error: undefined reference to main\nld: ${6 - at} errors left, in part-${at}`);
  expect(firstFlag(sameFailureDetector(), calls)).toBeNull();
});

test('two failures that alternate through six runs are thrash', () => {
  const calls = rounds(6, (at) => (at % 2 === 0 ? 'test_a failed' : 'test_b failed'));
  const { analysis } = scriptedRun(calls, { detectors: [sameFailureDetector()] });
  expect(analysis.patterns()).toMatchObject([{ kind: 'thrash', flaggedAt: 10 }]);
});

test('a time limit met after each change is one failure, whatever the job is called', () => {
  const job = (at: number): ScriptedCall => ({
    ...check(`Command timed out after 12${at} seconds`),
    args: { command: `python train.py --n ${at}` },
  });
  const calls = times(12, (at) => (at % 2 === 0 ? job(at) : edit(at)));
  expect(firstFlag(sameFailureDetector(), calls)).toBe(8);
  const through: ScriptedCall = { ...job(99), result: 'epoch 1 done, loss 0.4', isError: false };
  expect(
    firstFlag(
      sameFailureDetector(),
      calls.map((call, at) => (at === 6 ? through : call)),
    ),
  ).toBeNull();
});

test('a check that passes resets the count', () => {
  const passed: ScriptedCall = { ...check('passed'), isError: false };
  const calls = rounds(9, () => '1 failed').map((call, at) => (at % 8 === 4 ? passed : call));
  expect(firstFlag(sameFailureDetector(), calls)).toBeNull();
});

test('an error that only moves up and down with the edits stays the same failure', () => {
  const moved = rounds(6, (at) => `a.c:${10 + at}:5: error: 'foo' undeclared`);
  expect(firstFlag(sameFailureDetector(), moved)).toBe(8);
});

test('a changing message is progress', () => {
  expect(
    firstFlag(
      sameFailureDetector(),
      rounds(12, (at) => `${12 - at} failed`),
    ),
  ).toBeNull();
});

test("repeats without a change are another detector's business", () => {
  expect(firstFlag(sameFailureDetector(), times(12, check('1 failed')))).toBeNull();
});

test('a line that edits and then runs is treated as two calls if it fails in the same way five times', () => {
  const run = (at: number): ScriptedCall => ({
    tool: 'Bash',
    args: { command: `sed -i 's/a${at}/b/' f.c && make` },
    result: 'f.c:3: error: expected ;',
    isError: true,
  });
  expect(firstFlag(sameFailureDetector(), times(6, run))).toBe(4);
  expect(firstFlag(repeatedErrorDetector(), times(6, run))).toBeNull();
});

test('a change that is refused in the same way after each edit is a check too', () => {
  const apply: ScriptedCall = {
    tool: 'Bash',
    args: { command: 'kubectl apply -f a.yaml' },
    result: 'The Deployment "a" is invalid: field is immutable',
    isError: true,
  };
  const calls = times(10, (at) => (at % 2 === 0 ? apply : edit(at)));
  expect(firstFlag(sameFailureDetector(), calls)).toBe(8);
});
