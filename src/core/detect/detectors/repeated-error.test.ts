import { expect, test } from 'vitest';
import { firstFlag, scriptedRun, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { repeatedErrorDetector } from './repeated-error.ts';

const fail = (result: string, args = 'a'): ScriptedCall => ({ tool: 'api', args: { q: args }, result, isError: true });

test('the same words are flagged at the third failure', () => {
  expect(firstFlag(repeatedErrorDetector(), times(3, fail('boom, no disk')))).toBe(2);
  expect(firstFlag(repeatedErrorDetector(), times(2, fail('boom, no disk')))).toBeNull();
});

test('a cause outside the call is flagged at the fourth, whatever it was asked', () => {
  const denied = (at: number): ScriptedCall => fail(`permission denied: /srv/${at}`, `${at}`);
  expect(firstFlag(repeatedErrorDetector(), times(4, denied))).toBe(3);
});

test('the same kind of failure naming other things is flagged at the fifth', () => {
  const absent = (at: number): ScriptedCall => fail(`no such file: /srv/f${at}`, `${at}`);
  expect(firstFlag(repeatedErrorDetector(), times(5, absent))).toBe(4);
  expect(firstFlag(repeatedErrorDetector(), times(4, absent))).toBeNull();
});

test('clocks and ids in the message do not hide the repeat', () => {
  const stamped = (at: number): ScriptedCall => fail(`12:00:0${at} pid 4${at}7 crashed on start`);
  expect(firstFlag(repeatedErrorDetector(), times(3, stamped))).toBe(2);
});

test('one call that fails naming another missing module each time is progress', () => {
  const lacks = (at: number): ScriptedCall => fail(`ModuleNotFoundError: No module named 'm${'abcdefgh'[at]}'`);
  expect(firstFlag(repeatedErrorDetector(), times(8, lacks))).toBeNull();
  expect(
    firstFlag(
      repeatedErrorDetector(),
      times(3, () => lacks(0)),
    ),
  ).toBe(2);
});

test('increasing pauses raise the threshold', () => {
  const pauses = [0, 2_000, 8_000, 30_000, 100_000];
  const at = (index: number): number => 1_000_000 + pauses.slice(0, index + 1).reduce((sum, one) => sum + one, 0);
  const tight = times(5, (index) => ({ ...fail('429 too many requests'), atMs: 1_000_000 + index * 100 }));
  expect(firstFlag(repeatedErrorDetector(), tight)).toBe(2);
  const backing = times(5, (index) => ({ ...fail('429 too many requests'), atMs: at(index) }));
  expect(firstFlag(repeatedErrorDetector(), backing)).toBeNull();
});

test('it clears after successes with something new', () => {
  const work = times(3, (at): ScriptedCall => ({ tool: 'read', args: { path: `${at}` }, result: `text ${at}` }));
  const { analysis } = scriptedRun([...times(3, fail('boom')), ...work], { detectors: [repeatedErrorDetector()] });
  expect(analysis.patterns()).toMatchObject([{ clearedAt: 5, evidence: [0, 1, 2] }]);
});

test('failures that were resolved do not count toward later ones', () => {
  const callOf = (part: number, fails: boolean): ScriptedCall => ({
    tool: 'op1',
    args: { part },
    result: fails ? '{"status":503,"error":"SlowDown"}' : `{"status":200,"part":${part}}`,
    isError: fails,
  });
  const parts = [1, 2, 3].flatMap((part) => [callOf(part, true), callOf(part, true), callOf(part, false)]);
  expect(firstFlag(repeatedErrorDetector(), parts)).toBeNull();
  expect(firstFlag(repeatedErrorDetector(), [callOf(1, true), callOf(1, true), callOf(1, true)])).toBe(2);
});

test('one failure under changing lines of a log is one failure', () => {
  const job = (at: number): ScriptedCall => ({
    tool: 'Bash',
    args: { command: `job --memory ${at}g` },
    result: `INFO chunk ${at * 37} read\nERROR cannot merge schema: field amount\nINFO chunk ${at * 91} closed`,
    isError: true,
  });
  expect(firstFlag(repeatedErrorDetector(), times(4, job))).toBe(3);
});

test('lookups of missing things do not add up while the same program finds others in between', () => {
  const fetch = (at: number): ScriptedCall => ({
    tool: 'fetch',
    args: { url: `https://mirror${at}.test/p` },
    result: at % 3 === 2 ? `page ${at}` : `404 Not Found: mirror${at}`,
    isError: at % 3 !== 2,
  });
  expect(firstFlag(repeatedErrorDetector(), times(12, fetch))).toBeNull();
});

test('a failure that an answer declares counts like a flagged one, one that is read from words needs one more', () => {
  const calls = (result: string) => (at: number) => ({ tool: 'edit', args: { field: `f${at}` }, result });
  const declared = calls('{"ok": false, "error": {"code": "MISSING_SCOPE", "message": "no right to write"}}');
  expect(firstFlag(repeatedErrorDetector(), times(3, declared))).toBe(2);
  const worded = calls('Error: the ledger is closed');
  expect(firstFlag(repeatedErrorDetector(), times(3, worded))).toBeNull();
  expect(firstFlag(repeatedErrorDetector(), times(4, worded))).toBe(3);
});

test('a failure that was fixed before a similar one is not a repeat, and the same failure again is', () => {
  const empty = (commit: string): ScriptedCall => fail('nothing to commit, the pick is now empty', commit);
  const skip: ScriptedCall = { tool: 'write', args: { path: 'skip' }, result: 'ok' };
  const many = times(12, (at) => (at % 2 === 0 ? empty(`c${at}`) : skip));
  expect(firstFlag(repeatedErrorDetector(), [skip, ...many])).toBeNull();
  expect(firstFlag(repeatedErrorDetector(), [skip, ...times(6, (at) => (at % 2 === 0 ? empty('c') : skip))])).toBe(5);
});

test('a text of several lines is quoted by its first', () => {
  const texts = ['return null;', '}\n', 'return null;\n}', 'if (!row) {\n  return', '!row && x', 'else {\n'];
  const refuse = (at: number): ScriptedCall => ({
    tool: 'str_replace',
    args: { path: 'a.ts', old_str: texts[at] ?? '', new_str: 'y' },
    result: `No replacement was performed. Multiple occurrences of \`${texts[at] ?? ''}\` in lines [3, 17].`,
    isError: true,
  });
  expect(firstFlag(repeatedErrorDetector(), [0, 2, 3, 4, 5].map(refuse))).toBe(4);
});

test('a shell that counts the lines it was given does not make a failure move', () => {
  const counted = (at: number): ScriptedCall => fail(`bash: line ${1270 + at}: fastxml/: No such file or directory`);
  expect(firstFlag(repeatedErrorDetector(), times(6, counted))).not.toBeNull();
});

test('a line that also occurs in successful output is not a cause', () => {
  const noise = 'Error processing line 1 of site-packages/precedence.pth';
  const run = (at: number): ScriptedCall => ({
    tool: 'bash',
    args: { command: `python lint.py ${at}` },
    result: `<returncode>${at < 2 ? 0 : 16}</returncode>\n<output>\n${noise}\nfinding ${'x'.repeat(at)}\n</output>`,
  });
  expect(firstFlag(repeatedErrorDetector(), times(9, run))).toBeNull();
});

test('the same error lines of one call are flagged at the third in a row, also if its other lines differ', () => {
  const mirrors = ['accum', 'ocf', 'kernel', 'gwdg'];
  const download = (at: number): ScriptedCall =>
    fail(`Location: https://${mirrors[at]}.example/tcc.tar\n404 Not Found`);
  const look: ScriptedCall = { tool: 'read', args: { path: 'notes' }, result: 'the notes' };
  expect(firstFlag(repeatedErrorDetector(), times(3, download))).toBe(2);
  const apart = [0, 1, 2, 3].flatMap((at) => [download(at), look]);
  expect(firstFlag(repeatedErrorDetector(), apart)).toBe(6);
  const unreachable = times(3, (at) => fail(`received ${'abc'[at]}\nconnection reset by peer`));
  expect(firstFlag(repeatedErrorDetector(), unreachable)).toBeNull();
});

test('no change and no other call in between makes an unknown option right, as they may for other failures', () => {
  const callsWith = (error: string): readonly ScriptedCall[] =>
    times(24, (at): ScriptedCall => {
      if (at % 7 === 0) return fail(error, `db -recover ${at}`);
      const change: ScriptedCall = { tool: 'write', args: { path: `${at}`, content: `text ${at}` }, result: 'ok' };
      return at % 7 === 1 ? change : { tool: 'read', args: { path: `${at}` }, result: `text ${'abcdefg'[at % 7]}` };
    });
  expect(firstFlag(repeatedErrorDetector(), callsWith('db: unknown option: -recover'))).toBe(14);
  expect(firstFlag(repeatedErrorDetector(), callsWith('no disk is free: stop'))).toBeNull();
});

test('a wrong option that the error names is flagged at the third call, a usage text in general at the fourth', () => {
  const wrong = (at: number, result: string): ScriptedCall => ({
    tool: 'bash',
    args: { command: `convert --deep ${'abcd'[at]}` },
    result,
    isError: true,
  });
  const flagOf = (result: string): number | null =>
    firstFlag(
      repeatedErrorDetector(),
      times(4, (at) => wrong(at, result)),
    );
  expect(flagOf('convert: unknown option: --deep')).toBe(2);
  expect(flagOf('Usage: convert [options] FILE')).toBe(3);
});
