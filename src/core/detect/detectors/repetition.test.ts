import { expect, test } from 'vitest';
import { firstFlag, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { repetitionDetector } from './repetition.ts';

const ask = (query: string, result: string): ScriptedCall => ({ tool: 'sql', args: { query }, result });

test('a few questions that recur with one answer are flagged, although no two in a row are equal', () => {
  const queries = ['SELECT MAX(a) AS b FROM t', 'SELECT MAX(a) AS c FROM t', 'SELECT b, MAX(a) FROM t'];
  const calls = times(8, (at) => ask(queries[at % 3] ?? '', "[('cat', 12.0), ('dog', 13.4)]"));
  expect(firstFlag(repetitionDetector(), calls)).not.toBeNull();
});

test('pages, batches and readings are not flagged', () => {
  const pages = times(12, (at) => ask(`SELECT a FROM t OFFSET ${10 * at}`, `[('row ${at}',), ('row ${at}b',)]`));
  expect(firstFlag(repetitionDetector(), pages)).toBeNull();
  const batch = times(12, (at): ScriptedCall => ({ tool: 'tag_photo', args: { id: at }, result: 'ok' }));
  expect(firstFlag(repetitionDetector(), batch)).toBeNull();
  const readings = times(12, (at): ScriptedCall => ({
    tool: 'read_gauge',
    args: {},
    result: `pressure ${at * at} mbar`,
  }));
  expect(firstFlag(repetitionDetector(), readings)).toBeNull();
});

test('a change resets the window, also a repeated one', () => {
  const change: ScriptedCall = { tool: 'write', args: { path: 'f', content: 'x' }, result: 'ok' };
  const calls = times(12, (at) => (at % 2 === 0 ? ask('SELECT 1', "[('one',)]") : change));
  expect(firstFlag(repetitionDetector(), calls)).toBeNull();
});

test('an edit that fails in another form, after a look at something new, is not flagged', () => {
  const edit = (at: number): ScriptedCall => ({
    tool: 'edit',
    args: { path: 'a.py', old: `return ${'abcdefgh'[at]} + total` },
    result: 'Error: the old text was not found in a.py',
    isError: true,
  });
  const look = (at: number): ScriptedCall => ({
    tool: 'view',
    args: { path: 'a.py', from: at },
    result: `text from ${at}`,
  });
  const blind = times(8, (at) => (at % 4 === 3 ? ask('SELECT 1', "[('one',)]") : edit(at % 2)));
  expect(firstFlag(repetitionDetector(), blind)).not.toBeNull();
  const careful = times(8, (at) => (at % 2 === 0 ? edit(at) : look(at)));
  expect(firstFlag(repetitionDetector(), [look(90), look(90), ...careful])).toBeNull();
});
