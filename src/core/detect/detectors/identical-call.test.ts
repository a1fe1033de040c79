import { expect, test } from 'vitest';
import { firstFlag, scriptedRun, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { identicalCallDetector } from './identical-call.ts';

const READ: ScriptedCall = { tool: 'read', args: { path: 'a' }, result: 'the same text' };
const EDIT = (at: number): ScriptedCall => ({ tool: 'write', args: { path: 'b', content: `${at}` }, result: 'ok' });

test('the third equal call with an equal answer is flagged, the second is a hint', () => {
  expect(firstFlag(identicalCallDetector(), times(3, READ))).toBe(2);
  expect(firstFlag(identicalCallDetector(), times(2, READ))).toBeNull();
});

test('the threshold can be set', () => {
  expect(firstFlag(identicalCallDetector({ warnAt: 5 }), times(6, READ))).toBe(4);
});

test('a few known calls and any number of thoughts may occur in between', () => {
  const other: ScriptedCall = { tool: 'read', args: { path: 'b' }, result: 'another text' };
  expect(firstFlag(identicalCallDetector(), [READ, other, READ, other, READ])).toBe(4);
  const think = (at: number): ScriptedCall => ({ tool: 'think', args: { thought: `${at}` } });
  expect(firstFlag(identicalCallDetector(), [READ, ...times(5, think), READ, ...times(5, think), READ])).toBe(12);
});

test('legitimate runs that look similar are not flagged', () => {
  const detector = identicalCallDetector();
  expect(
    firstFlag(
      detector,
      times(9, (at) => ({ ...READ, result: `${at} left` })),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      detector,
      times(6, READ).flatMap((call, at) => [call, EDIT(at)]),
    ),
  ).toBeNull();
  expect(firstFlag(detector, times(6, { ...READ, turn: 0 }))).toBeNull();
  expect(firstFlag(detector, times(6, { ...READ, userBefore: true }))).toBeNull();
  expect(firstFlag(detector, times(6, { ...READ, noResult: true }))).toBeNull();
  expect(
    firstFlag(
      detector,
      times(5, (at) => ({ ...READ, args: { path: `${at}` } })),
    ),
  ).toBeNull();
});

test('a long result that is read a fourth time, with other news in between, is flagged', () => {
  const long = { ...READ, result: 'the same text of a long file. '.repeat(10) };
  const other = (at: number): ScriptedCall => ({
    tool: 'read',
    args: { path: `${at}` },
    result: `text ${'abcdef'[at]}`,
  });
  const run = (call: ScriptedCall, rounds: number): readonly ScriptedCall[] =>
    Array.from({ length: rounds }, (_, at) => [call, other(at)]).flat();
  expect(firstFlag(identicalCallDetector(), run(long, 3))).toBeNull();
  expect(firstFlag(identicalCallDetector(), run(long, 4))).toBe(6);
  expect(firstFlag(identicalCallDetector(), run(READ, 6))).toBeNull();
});

test('repeating a call after new work is not flagged', () => {
  const look = (at: number): ScriptedCall => ({ tool: 'read', args: { path: `new-${at}` }, result: `text ${at}` });
  expect(
    firstFlag(
      identicalCallDetector(),
      times(6, READ).flatMap((call, at) => [call, look(at)]),
    ),
  ).toBeNull();
});

test('a blind action on a screen is flagged late', () => {
  const press: ScriptedCall = { tool: 'press_key', args: { key: 'Down' }, result: 'ok' };
  expect(firstFlag(identicalCallDetector(), times(12, press))).toBe(9);
});

test('the pattern names the calls and clears after new work', () => {
  const work = times(3, (at): ScriptedCall => ({ tool: 'grep', args: { q: `${at}` }, result: `found ${at}` }));
  const { analysis } = scriptedRun([...times(4, READ), ...work], { detectors: [identicalCallDetector()] });
  expect(analysis.patterns()).toMatchObject([
    { kind: 'identical_call', tool: 'read', evidence: [0, 1, 2, 3], occurrences: 4, firstSeen: 0, clearedAt: 6 },
  ]);
});

test('a flaky test may have the same result three times in a row', () => {
  const run = (passes: boolean): ScriptedCall =>
    passes
      ? { tool: 'Bash', args: { command: 'pytest' }, result: '1 passed' }
      : { tool: 'Bash', args: { command: 'pytest' }, result: 'FAILED a - assert 1 == 2', isError: true };
  const row = [true, false, true, true, true, true].map(run);
  expect(firstFlag(identicalCallDetector(), row)).toBeNull();
  expect(firstFlag(identicalCallDetector(), [...row, run(true)])).toBe(6);
});

test('two more calls are allowed for a status that has changed before', () => {
  const ready = [0, 1, 1, 2, 2, 2, 3].map((pods): ScriptedCall => ({
    tool: 'get_pods',
    result: `${pods}/8 ready pods`,
  }));
  expect(firstFlag(identicalCallDetector(), ready)).toBeNull();
});

test('equal changes with reads in between are flagged as a cycle only', () => {
  const round = (at: number): readonly ScriptedCall[] => [
    { tool: 'add_titrant', args: { ml: 0.5 }, result: 'added' },
    { tool: 'read_ph', result: `the pH is 3.${Math.floor(at / 2)} now` },
  ];
  expect(firstFlag(identicalCallDetector(), [0, 1, 2, 3, 4, 5].flatMap(round))).toBeNull();
  expect(firstFlag(identicalCallDetector(), times(3, round(0)[0] ?? { tool: 'x' }))).toBe(2);
});

test('equal calls of one turn count once', () => {
  const ask: ScriptedCall = { tool: 'search', args: { q: 'x' }, result: 'two rows found', turn: 1 };
  expect(firstFlag(identicalCallDetector(), times(20, ask))).toBeNull();
});
