import { expect, test } from 'vitest';
import { firstFlag, scriptedRun, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { thrashDetector } from './thrash.ts';

const write = (content: string, path = 'f'): ScriptedCall => ({ tool: 'write', args: { path, content }, result: 'ok' });
const edit = (from: string, to: string): ScriptedCall => ({
  tool: 'edit',
  args: { path: 'f', old_string: from, new_string: to },
  result: 'ok',
});

test('the second return to an earlier content is flagged', () => {
  expect(
    firstFlag(
      thrashDetector(),
      ['a', 'b', 'a', 'b'].map((one) => write(one)),
    ),
  ).toBe(3);
  expect(
    firstFlag(
      thrashDetector(),
      ['a', 'b', 'a'].map((one) => write(one)),
    ),
  ).toBeNull();
});

test('edits that undo each other are flagged at the second undoing', () => {
  expect(firstFlag(thrashDetector(), [edit('a', 'b'), edit('b', 'a'), edit('a', 'b')])).toBe(2);
});

test('six consecutive rewrites of one file are flagged, with equal ones in between', () => {
  expect(
    firstFlag(
      thrashDetector(),
      times(7, (at) => write(`${at === 3 ? 2 : at}`)),
    ),
  ).toBe(6);
  expect(
    firstFlag(
      thrashDetector(),
      times(5, (at) => write(`${at}`)),
    ),
  ).toBeNull();
});

test('rewrites that bring no earlier state back are a kind of their own', () => {
  const kindsOf = (calls: readonly ScriptedCall[]): readonly string[] =>
    scriptedRun(calls, { detectors: [thrashDetector()] })
      .analysis.patterns()
      .map(({ kind }) => kind);
  expect(kindsOf(times(8, (at) => write(`draft ${at}`)))).toEqual(['rewrites']);
  expect(kindsOf(times(4, (at) => write(`${at % 2}`)))).toEqual(['thrash']);
});

test('legitimate runs that look similar are not flagged', () => {
  const tested = times(40, (at): ScriptedCall =>
    at % 2 === 0 ? write(`${at}`) : { tool: 'run_tests', result: `${at}` },
  );
  expect(firstFlag(thrashDetector(), tested)).toBeNull();
  expect(
    firstFlag(
      thrashDetector(),
      times(20, (at) => write('a', `f${at}`)),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      thrashDetector(),
      times(20, (at) => edit(`${at}`, `${at + 1}`)),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      thrashDetector(),
      times(9, () => write('a')),
    ),
  ).toBeNull();
});

test("restoring a state on the user's request is not thrash", () => {
  const calls = times(5, (at): ScriptedCall => ({ ...write(at % 2 === 0 ? 'a' : 'b'), userBefore: true }));
  expect(firstFlag(thrashDetector(), calls)).toBeNull();
});

test('to remove a fix, test without it and restore it is allowed, and continuing to do so is flagged', () => {
  const run = (passes: boolean): ScriptedCall => ({
    tool: 'bash',
    args: { command: 'pytest' },
    result: passes ? '4 passed' : 'AssertionError: 3 != 4',
    isError: !passes,
  });
  const proof = [edit('a', 'b'), run(true), edit('b', 'a'), run(false), edit('a', 'b'), run(true)];
  expect(firstFlag(thrashDetector(), proof)).toBeNull();
  expect(firstFlag(thrashDetector(), [...proof, ...proof.slice(2)])).toBe(8);
});

test('returns are counted per pair of states, not summed over a file', () => {
  const mutations = ['b', 'c', 'd', 'e'].flatMap((to) => [edit('a', to), edit(to, 'a')]);
  expect(firstFlag(thrashDetector(), mutations)).toBeNull();
});

test('the same edit made twice is not a return', () => {
  expect(firstFlag(thrashDetector(), [edit('a', 'b'), edit('b', 'a'), edit('b', 'a'), edit('b', 'a')])).toBeNull();
});
