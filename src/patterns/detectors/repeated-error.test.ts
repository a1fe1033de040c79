import { expect, test } from 'vitest';
import { firstFlag, scriptedRun, times, type ScriptedCall } from '../../../test/support/scripted-run.ts';
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

test('legitimate twins are left alone', () => {
  const detector = repeatedErrorDetector();
  const write = (at: number): ScriptedCall => ({ tool: 'write', args: { path: 'f', content: `${at}` }, result: 'ok' });
  expect(
    firstFlag(
      detector,
      times(6, fail('1 test failed')).flatMap((call, at) => [call, write(at)]),
    ),
  ).toBeNull();
  expect(firstFlag(detector, times(6, { ...fail('boom'), turn: 0 }))).toBeNull();
  expect(firstFlag(detector, times(4, { ...fail('boom'), userBefore: true }))).toBeNull();
  expect(firstFlag(detector, times(6, fail('')))).toBeNull();
  const kinds = ['boom one', 'cannot parse', 'wrong type', 'assert failed'];
  expect(
    firstFlag(
      detector,
      times(4, (at) => fail(kinds[at] ?? '')),
    ),
  ).toBeNull();
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

test('waiting longer each time earns patience', () => {
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

test('failures that were overcome do not count with the next ones', () => {
  const put = (part: number, fails: boolean): ScriptedCall => ({
    tool: 'op1',
    args: { part },
    result: fails ? '{"status":503,"error":"SlowDown"}' : `{"status":200,"part":${part}}`,
    isError: fails,
  });
  const parts = [1, 2, 3].flatMap((part) => [put(part, true), put(part, true), put(part, false)]);
  expect(firstFlag(repeatedErrorDetector(), parts)).toBeNull();
  expect(firstFlag(repeatedErrorDetector(), [put(1, true), put(1, true), put(1, true)])).toBe(2);
});

test('pauses before the next try earn patience where nothing tells how long they were', () => {
  const wait: ScriptedCall = { tool: 'sleep', args: { seconds: 4 }, result: 'slept' };
  const fetch: ScriptedCall = { tool: 'fetch', args: { url: 'u' }, result: '503 Service Unavailable', isError: true };
  expect(firstFlag(repeatedErrorDetector(), [fetch, wait, fetch, wait, fetch, wait, fetch])).toBeNull();
  expect(firstFlag(repeatedErrorDetector(), [fetch, wait, fetch, wait, fetch, wait, fetch, wait, fetch])).toBe(8);
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

test('things that are not there are no row while the same program finds others between', () => {
  const fetch = (at: number): ScriptedCall => ({
    tool: 'fetch',
    args: { url: `https://mirror${at}.test/p` },
    result: at % 3 === 2 ? `page ${at}` : `404 Not Found: mirror${at}`,
    isError: at % 3 !== 2,
  });
  expect(firstFlag(repeatedErrorDetector(), times(12, fetch))).toBeNull();
});

test('a failure that an answer declares counts like a flagged one, one that is read from words needs one more', () => {
  const asked = (result: string) => (at: number) => ({ tool: 'edit', args: { field: `f${at}` }, result });
  const declared = asked('{"ok": false, "error": {"code": "MISSING_SCOPE", "message": "no right to write"}}');
  expect(firstFlag(repeatedErrorDetector(), times(3, declared))).toBe(2);
  const worded = asked('Error: the ledger is closed');
  expect(firstFlag(repeatedErrorDetector(), times(3, worded))).toBeNull();
  expect(firstFlag(repeatedErrorDetector(), times(4, worded))).toBe(3);
});

test('things that are looked up and not there take one more, and none once another is found', () => {
  const absent = (at: number): ScriptedCall => fail('ERROR: unable to find the key', `${at}`);
  expect(firstFlag(repeatedErrorDetector(), times(4, absent))).toBe(3);
  const found: ScriptedCall = { tool: 'api', args: { q: 'x' }, result: 'HKEY x 1.2' };
  expect(firstFlag(repeatedErrorDetector(), [absent(0), found, absent(1), absent(2), absent(3)])).toBeNull();
});

test('who waits longer each time for a lock is given one more', () => {
  const locked = (atMs: number): ScriptedCall => ({
    ...fail('E: could not get lock, is another process using it?'),
    atMs,
  });
  expect(firstFlag(repeatedErrorDetector(), [1_000, 31_000, 92_000].map(locked))).toBeNull();
  expect(firstFlag(repeatedErrorDetector(), [1_000, 31_000, 61_000].map(locked))).toBe(2);
});

test('what is dealt with before the next thing fails alike is no repeat, the same thing again is', () => {
  const empty = (commit: string): ScriptedCall => fail('nothing to commit, the pick is now empty', commit);
  const skip: ScriptedCall = { tool: 'write', args: { path: 'skip' }, result: 'ok' };
  const many = times(12, (at) => (at % 2 === 0 ? empty(`c${at}`) : skip));
  expect(firstFlag(repeatedErrorDetector(), [skip, ...many])).toBeNull();
  expect(firstFlag(repeatedErrorDetector(), [skip, ...times(6, (at) => (at % 2 === 0 ? empty('c') : skip))])).toBe(5);
});

test('pauses made on purpose give two more, wherever the way is not open yet', () => {
  const closed = (atMs: number): ScriptedCall => ({ ...fail('connect: no route to host'), atMs });
  const pause: ScriptedCall = { tool: 'pause', args: { seconds: 30 }, result: '' };
  const tries = [50_000, 90_000, 130_000, 170_000].flatMap((atMs) => [closed(atMs), pause]);
  expect(firstFlag(repeatedErrorDetector(), tries)).toBeNull();
  expect(firstFlag(repeatedErrorDetector(), [50_000, 51_000, 52_000].map(closed))).toBe(2);
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

test('a refusal that quotes what was asked is one cause', () => {
  const refuse = (at: number): ScriptedCall => ({
    tool: 'sheet_get',
    args: { range: `Sales 25!${'ABCDEF'.charAt(at)}${at}:D` },
    result: `Error 400: cannot read Sales 25!${'ABCDEF'.charAt(at)}${at}:D`,
    isError: true,
  });
  expect(firstFlag(repeatedErrorDetector(), times(6, refuse))).toBe(3);
});

test('a refusal that hands back what it was given, in several lines, is one cause', () => {
  const texts = [
    '  if (failed) {\n    retry();',
    '  retry();\n  fail(error);',
    '  fail(error);\n}',
    '}\n\nlog(failed, error);',
  ];
  const refuse = (at: number): ScriptedCall => ({
    tool: 'edit',
    args: { path: 'a.ts', old_string: texts[at] ?? '', new_string: `const next = ${at};` },
    result: `<tool_use_error>String to replace not found in file.\nString: ${texts[at] ?? ''}</tool_use_error>`,
    isError: true,
  });
  expect(firstFlag(repeatedErrorDetector(), times(4, refuse))).toBe(3);
});

test('a refusal in which only a number differs is flagged at the fourth', () => {
  const refuse = (at: number): ScriptedCall => ({
    tool: 'write',
    args: { text: `chapter, attempt ${'abcdef'.charAt(at)}` },
    result: `Unterminated string at position ${4_000 + at * 17}. Send less.`,
    isError: true,
  });
  expect(firstFlag(repeatedErrorDetector(), times(5, refuse))).toBe(3);
});

test('five equal refusals of one call are flagged though the user spoke before each', () => {
  expect(firstFlag(repeatedErrorDetector(), times(5, { ...fail('Error: refund denied'), userBefore: true }))).toBe(4);
});

test('a shell that counts the lines it was given does not make a failure move', () => {
  const counted = (at: number): ScriptedCall => fail(`bash: line ${1270 + at}: fastxml/: No such file or directory`);
  expect(firstFlag(repeatedErrorDetector(), times(6, counted))).not.toBeNull();
});

test('a line that also stands in what succeeds is no cause', () => {
  const noise = 'Error processing line 1 of site-packages/precedence.pth';
  const run = (at: number): ScriptedCall => ({
    tool: 'bash',
    args: { command: `python lint.py ${at}` },
    result: `<returncode>${at < 2 ? 0 : 16}</returncode>\n<output>\n${noise}\nfinding ${'x'.repeat(at)}\n</output>`,
  });
  expect(firstFlag(repeatedErrorDetector(), times(9, run))).toBeNull();
});
