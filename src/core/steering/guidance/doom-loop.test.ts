import { expect, test } from 'vitest';
import { guidanceContext, scriptAnalysis, type ScriptedCall } from '../../../../test/support/guidance-script.ts';
import { doomLoop, type DoomLoopOptions } from './built-in-guidance.ts';

/** Without detectors: only the classifier's own window decides. */
const judged = (calls: readonly ScriptedCall[], options: DoomLoopOptions = {}): boolean =>
  doomLoop(options).classify(guidanceContext({ trajectory: scriptAnalysis(calls, []) })).relevant;

const WORDS = 'select name age city from people where active and verified order by name limit ten offset zero now';
/** Eighteen words of which the last differs: similarity 17/19, about 0.89. */
const query = (last: string, more: Partial<ScriptedCall> = {}): ScriptedCall => ({
  tool: 'run_query',
  args: { query: `${WORDS} ${last}` },
  result: 'Error: relation people is locked',
  failed: true,
  ...more,
});

test('similarityThreshold has an effect: 0.85 and 0.99 differ on the same calls', () => {
  const calls = [query('alpha'), query('beta'), query('gamma')];
  expect(judged(calls, { similarityThreshold: 0.85 })).toBe(true);
  expect(judged(calls, { similarityThreshold: 0.99 })).toBe(false);
});

test('maxRepetitions has an effect: two similar failures are not three', () => {
  const calls = [query('alpha'), query('beta')];
  expect(judged(calls)).toBe(false);
  expect(judged(calls, { maxRepetitions: 2 })).toBe(true);
});

test('windowSize has an effect: a repetition outside the window does not count', () => {
  const calls = [query('alpha'), {}, {}, query('beta'), {}, query('gamma')];
  expect(judged(calls, { windowSize: 5 })).toBe(false);
  expect(judged(calls, { windowSize: 6 })).toBe(true);
});

test('equal results of nearly equal calls count as unsuccessful, different results do not', () => {
  const call = (last: string, result: string): ScriptedCall => query(last, { failed: false, result });
  const same = 'no rows were returned';
  expect(judged([call('a', same), call('b', same), call('c', same)])).toBe(true);
  expect(judged([call('a', 'row one of it'), call('b', 'row two of it'), call('c', 'row three of it')])).toBe(false);
});

test('a batch of acknowledged calls is not a loop', () => {
  const insert = (last: string): ScriptedCall => query(last, { tool: 'insert_row', failed: false, result: 'true' });
  expect(judged([insert('a'), insert('b'), insert('c')])).toBe(false);
});

test('a new write ends the series, such as a test repeated after each edit', () => {
  const edit = (index: number): ScriptedCall => ({
    tool: 'write_file',
    args: { path: 'a.ts', content: `version ${index}` },
    result: 'ok',
  });
  const run = query('tests');
  expect(judged([run, edit(1), run, edit(2), run])).toBe(false);
  expect(judged([run, run, run])).toBe(true);
});

test('returning to a file after reading another is not a loop; a search for the cause of a failure does not hide one', () => {
  const read: ScriptedCall = { args: { path: 'a' }, result: 'the content of file a' };
  expect(judged([read, read, {}, read])).toBe(false);
  expect(judged([read, read, read])).toBe(true);
  expect(judged([query('a'), {}, query('b'), {}, query('c')])).toBe(true);
});

test('calls of one turn count once', () => {
  const together = query('beta', { sameTurn: true });
  expect(judged([query('alpha'), together, together])).toBe(false);
});

test('a success after failures is not a loop', () => {
  expect(
    judged([query('a'), query('b'), query('c'), query('d', { failed: false, result: 'ten rows of people' })]),
  ).toBe(false);
});

test('a loop found by the analysis counts too, with its pattern', () => {
  const call: ScriptedCall = { args: { path: 'a' }, result: 'the same content again' };
  const other: ScriptedCall = { args: { path: 'b' }, result: 'the other content again' };
  const calls = [call, other, call, other, call, other];
  expect(judged(calls, { maxRepetitions: 5 })).toBe(false);
  const result = doomLoop({ maxRepetitions: 5 }).classify(guidanceContext({ calls }));
  expect(result.relevant).toBe(true);
  expect(result.pattern?.identity).toMatch(/^(?:ping_pong|cycle|identical_call):/);
});

test('a loop seen too many calls ago does not count', () => {
  const call: ScriptedCall = { args: { path: 'a' }, result: 'the same content again' };
  const thoughts = Array.from({ length: 6 }, (_, index): ScriptedCall => ({ tool: 'think', args: { thought: index } }));
  const calls = [call, call, call, ...thoughts];
  const context = guidanceContext({ calls });
  expect(context.trajectory.openPatterns().map(({ kind }) => kind)).toContain('identical_call');
  expect(doomLoop().classify(context).relevant).toBe(false);
});

test('an option outside its range is refused when the classifier is made', () => {
  const wrong: readonly DoomLoopOptions[] = [
    { similarityThreshold: 1.1 },
    { windowSize: 33 },
    { windowSize: 1 },
    { maxRepetitions: 6 },
    { maxRepetitions: 1 },
  ];
  for (const options of wrong) {
    expect(() => doomLoop(options)).toThrow(expect.objectContaining({ code: 'invalid-definition' }));
  }
});
