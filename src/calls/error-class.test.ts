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
])('%j is of the category %s', (text, category) => {
  expect(classifyError(text).category).toBe(category);
});

test('the last line of a traceback speaks for it', () => {
  const text = 'Traceback (most recent call last):\n  File "a.py", line 3\nKeyError: \'name\'';
  expect(classifyError(text).line).toBe("KeyError: 'name'");
});

test('two missing modules are one cause and not the same words', () => {
  const one = classifyError("Error: Cannot find module 'left'");
  const other = classifyError("Error: Cannot find module 'right'");
  expect(one.groupKey).toBe(other.groupKey);
  expect(one.exactKey).not.toBe(other.exactKey);
});

test('an error that an edit above has moved says the same but for its place', () => {
  const one = classifyError("a.c:10:5: error: 'foo' undeclared");
  const other = classifyError("a.c:17:5: error: 'foo' undeclared");
  expect(one.exactKey).not.toBe(other.exactKey);
  expect(one.placelessKey).toBe(other.placelessKey);
  expect(one.placelessKey).not.toBe(classifyError("a.c:10:5: error: 'bar' undeclared").placelessKey);
  expect(classifyError('Tests: 3 failed').placelessKey).not.toBe(classifyError('Tests: 2 failed').placelessKey);
});

test('a clock and a process number do not make an error another one', () => {
  const one = classifyError('12:00:01 pid 411 failed: disk full');
  const other = classifyError('12:00:07 pid 977 failed: disk full');
  expect(one.exactKey).toBe(other.exactKey);
});

test('the line is cut at 200 characters', () => {
  expect(classifyError(`error: ${'x'.repeat(5_000)}`).line.length).toBeLessThanOrEqual(200);
});

test('lines of a log around it do not make another failure', () => {
  const log = (seed: number): string =>
    Array.from(
      { length: 60 },
      (_, at) => `2026-03-01 10:00:0${at % 10} [w-${at % 3}] INFO c.a.Sink - flush ${seed * at}`,
    ).join('\n');
  const fail = (seed: number, field: string): string =>
    `${log(seed)}\n2026-03-01 10:00:11 [w-6] ERROR c.a.Sink - cannot merge field ${field}\n${log(seed + 1)}`;
  const one = classifyError(fail(3, 'amount'));
  const again = classifyError(fail(7, 'amount'));
  expect(one.line).toContain('cannot merge field amount');
  expect(one.exactKey).not.toBe(again.exactKey);
  expect(one.spokenKey).toBe(again.spokenKey);
  expect(one.spokenKey).not.toBe(classifyError(fail(3, 'price')).spokenKey);
});

test('made-up ids do not make another failure, names that end in a number do', () => {
  const refused = (id: string): string => `agent-${id} rejected: 4 agents are running`;
  expect(classifyError(refused('k3j9x2')).exactKey).toBe(classifyError(refused('7f2m8q')).exactKey);
  expect(classifyError('FAILED test_sum2').exactKey).not.toBe(classifyError('FAILED test_sum3').exactKey);
});

test('the values of an assertion tell one failure from the next', () => {
  const failed = (got: number): string => `FAILED sums\n  expected: 4\n  received: ${got}`;
  expect(classifyError(failed(2)).spokenKey).not.toBe(classifyError(failed(3)).spokenKey);
});

test('what clears up after a traceback does not speak for it', () => {
  const text = (id: string): string =>
    `running\nTraceback (most recent call last):\n  File "a.py", line 3\nAssertionError: 1 != 2\n\nDestroying database ${id}`;
  expect(classifyError(text('memorydb_dedaac')).line).toBe('AssertionError: 1 != 2');
  expect(classifyError(text('memorydb_dedaac')).spokenKey).toBe(classifyError(text('memorydb_beefed')).spokenKey);
});

test('an image that gets smaller and still does not fit says something else', () => {
  const link = (bytes: number): string =>
    `ld: section will not fit\nld: region FLASH overflowed by ${bytes} bytes\ncollect2: error: ld returned 1`;
  expect(classifyError(link(9_120)).placelessKey).not.toBe(classifyError(link(7_076)).placelessKey);
});

test('a heading alone is no cause: the line below says what failed', () => {
  const one = classifyError('ERROR:\nNo replacement was performed, old_str did not appear in a.c.');
  const other = classifyError('ERROR:\nMultiple occurrences of old_str in lines 3, 7.');
  expect(one.line).toBe('ERROR: No replacement was performed, old_str did not appear in a.c.');
  expect(one.groupKey).not.toBe(other.groupKey);
  expect(one.spokenKey).not.toBe(other.spokenKey);
  expect(classifyError('ERROR:').line).toBe('ERROR:');
});

test('what a build finds while it looks around does not speak for its failure', () => {
  const configure = (found: string): string =>
    `-- Looking for ${found} - not found [80 ms]\nCMake Error at Find.cmake:230 (message):\n  Could NOT find CURL (missing: LIBRARY)`;
  expect(classifyError(configure('kqueue')).spokenKey).toBe(classifyError(configure('accept4')).spokenKey);
  expect(classifyError(configure('kqueue')).line).toBe('CMake Error at Find.cmake:230 (message):');
});
