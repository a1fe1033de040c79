import { expect, test } from 'vitest';
import { classifyError } from './error-class.ts';

test.each([
  ['HTTP 429 Too Many Requests', 'rate-limit'],
  ['Error: 401 Unauthorized', 'auth'],
  ['bash: ./run.sh: Permission denied', 'permission'],
  ['Command timed out after 120s', 'timeout'],
  ['connect ECONNREFUSED 127.0.0.1:5432', 'network'],
  ['bash: jq: command not found', 'missing-program'],
  ["ModuleNotFoundError: No module named 'yaml'", 'missing-program'],
  ['Input validation error: path is required', 'validation'],
  ['error: unknown option --foo', 'usage'],
  ['cat: a.txt: No such file or directory', 'not-found'],
  ['SyntaxError: unexpected token', 'syntax'],
  ['Exit code 1\n3 failed, 2 passed', 'other'],
  ['', 'silent'],
  [' \n ', 'silent'],
])('%j has the category %s', (text, category) => {
  expect(classifyError(text).category).toBe(category);
});

test('the last line of a traceback names the failure', () => {
  const text = 'Traceback (most recent call last):\n  File "a.py", line 3\nKeyError: \'name\'';
  expect(classifyError(text).line).toBe("KeyError: 'name'");
});

test.each([
  '(pass) config > errors on invalid input [0.31ms]\nexpect(received).toBe(expected)\nerror: 1 !== 2',
  '✓ fails on an empty list\nerror: 1 !== 2',
  'ok 3 - throws an error\nerror: 1 !== 2',
  '--- PASS: TestFails (0.00s)\nerror: 1 !== 2',
  '$ biome check --error-on-warnings\nerror: 1 !== 2',
])('neither a passed test nor an echoed command names the failure: %j', (text) => {
  expect(classifyError(text).line).toBe('error: 1 !== 2');
});

test('two missing modules share a cause but not their text', () => {
  const one = classifyError("Error: Cannot find module 'left'");
  const other = classifyError("Error: Cannot find module 'right'");
  expect(one.groupKey).toBe(other.groupKey);
  expect(one.exactKey).not.toBe(other.exactKey);
});

test('times and process ids do not tell errors apart', () => {
  const one = classifyError('12:00:01 pid 411 failed: disk full');
  const other = classifyError('12:00:07 pid 977 failed: disk full');
  expect(one.exactKey).toBe(other.exactKey);
});

test('the line has at most 200 characters', () => {
  expect(classifyError(`error: ${'x'.repeat(5_000)}`).line.length).toBeLessThanOrEqual(200);
});

test('random ids do not tell failures apart, names that end in a number do', () => {
  const refused = (id: string): string => `agent-${id} rejected: 4 agents are running`;
  expect(classifyError(refused('7f2c9a1b')).exactKey).toBe(classifyError(refused('0d43be72')).exactKey);
  expect(classifyError('FAILED test_sum2').exactKey).not.toBe(classifyError('FAILED test_sum3').exactKey);
});

test('output after a traceback does not name the failure', () => {
  const text = (id: string): string =>
    `running\nTraceback (most recent call last):\n  File "a.py", line 3\nAssertionError: 1 != 2\n\nDestroying database ${id}`;
  expect(classifyError(text('memorydb_dedaac')).line).toBe('AssertionError: 1 != 2');
  expect(classifyError(text('memorydb_dedaac')).messageKey).toBe(classifyError(text('memorydb_beefed')).messageKey);
});

test('a place within a file does not change the message', () => {
  const one = classifyError("a.c:10:5: error: 'foo' undeclared");
  const other = classifyError("a.c:17:5: error: 'foo' undeclared");
  expect(one.exactKey).not.toBe(other.exactKey);
  expect(one.messageKey).toBe(other.messageKey);
  expect(one.messageKey).not.toBe(classifyError("a.c:10:5: error: 'bar' undeclared").messageKey);
  expect(classifyError('Tests: 3 failed').messageKey).not.toBe(classifyError('Tests: 2 failed').messageKey);
});

test('log lines around a failure do not change the message', () => {
  const log = (seed: number): string =>
    Array.from({ length: 60 }, (_, at) => `2026-03-01 10:00:0${at % 10} INFO flush ${seed * at}`).join('\n');
  const fail = (seed: number, field: string): string => `${log(seed)}\nERROR cannot merge ${field}\n${log(seed + 1)}`;
  const one = classifyError(fail(3, 'amount'));
  const again = classifyError(fail(7, 'amount'));
  expect(one.line).toContain('cannot merge amount');
  expect(one.exactKey).not.toBe(again.exactKey);
  expect(one.messageKey).toBe(again.messageKey);
  expect(one.messageKey).not.toBe(classifyError(fail(3, 'price')).messageKey);
});

test('the values of an assertion tell failures apart', () => {
  const failed = (value: number): string => `FAILED sums\n  expected: 4\n  received: ${value}`;
  expect(classifyError(failed(2)).messageKey).not.toBe(classifyError(failed(3)).messageKey);
});

test('a heading alone names no failure: the next line does', () => {
  const failure = classifyError('ERROR:\nNo replacement was performed, old_str did not appear in a.c.');
  expect(failure.line).toBe('ERROR: No replacement was performed, old_str did not appear in a.c.');
  expect(failure.groupKey).not.toBe(classifyError('ERROR:\nMultiple occurrences of old_str in lines 3, 7.').groupKey);
  expect(classifyError('ERROR:').line).toBe('ERROR:');
});
