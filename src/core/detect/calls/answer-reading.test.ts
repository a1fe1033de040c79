import { expect, test } from 'vitest';
import { cpuMs } from '../../../../test/support/cost-growth.ts';
import { AnswerReading } from './answer-reading.ts';
import { inferIsError, reportsFailure, reportsFailureAsJson } from './answer-rules.ts';

test.each([
  ['', true],
  [' []\n', true],
  ['{"ok":true}', false],
  ['{"items":[],"next":"t-7"}', false],
  ['{"items":[]', false],
  ['none', false],
])('%j is empty: %j', (text, expected) => {
  expect(new AnswerReading(text).isEmpty).toBe(expected);
});

test.each([
  ['', true],
  [' Done.', true],
  [
    'Todos have been modified successfully. Please proceed with the current tasks if applicable and keep the list',
    true,
  ],
  [
    'Query completed. Please proceed with the current tasks if applicable and keep the list up to date, 17 of it',
    false,
  ],
  ['No changes detected', false],
  [`created ${'x'.repeat(100)}`, false],
])('whether %j only says done: %j', (text, expected) => {
  expect(new AnswerReading(text).acknowledges).toBe(expected);
});

test('a long answer is not pending, whatever its words', () => {
  expect(new AnswerReading('queued').isPending).toBe(true);
  expect(new AnswerReading(`queued ${'x'.repeat(500)}`).isPending).toBe(false);
});

test.each([
  ['{"ok": false, "error": {"code": "MISSING_SCOPE"}}', true],
  ['{"error": {"code": 403, "message": "no"}}', true],
  ['{"status": "failed"}', true],
  ['{"errors": [], "data": {"id": 1}}', false],
  ['{"error": null, "ok": true}', false],
  ['{"ok": false, "error": "cut off', false],
])('%j reports a failure: %j', (text, expected) => {
  expect(reportsFailureAsJson(text)).toBe(expected);
});

test('a failure is read at the head and at the tail only', () => {
  expect(inferIsError(`${'compiling\n'.repeat(200)}bash: x: command not found`)).toBe(true);
  expect(inferIsError(`bash: x: command not found\n${'compiling\n'.repeat(200)}`)).toBe(true);
  expect(inferIsError(`${'line\n'.repeat(300)}bash: x: command not found\n${'line\n'.repeat(300)}`)).toBe(false);
  expect(inferIsError('')).toBe(false);
});

test('the last lines of a long text cost no more to read than all lines', () => {
  // With a word of a failure, without which no line is read.
  const text = `${'it cannot be '.repeat(24)}\n`.repeat(25);
  const costOf = (everywhere: boolean): number =>
    cpuMs(() => {
      for (let round = 0; round < 100; round += 1) reportsFailure(text, everywhere);
    });
  // The clock may count in steps of milliseconds.
  expect(costOf(false)).toBeLessThan(10 * Math.max(1, costOf(true)));
});

test('a good last line outweighs a failure above it', () => {
  const log = `ERROR one\n${'line\n'.repeat(5)}`;
  expect(reportsFailure(log, true)).toBe(true);
  expect(reportsFailure(log, false)).toBe(false);
  expect(reportsFailure(`${log}ERROR two`, false)).toBe(true);
  expect(reportsFailure(`${log}finished day 1`, true)).toBe(false);
});

test('errors above the count of passed tests come from the tested program', () => {
  const log = 'error: Database connection failed\n      at <anonymous> (a.test.ts:317:25)\n';
  expect(reportsFailure(`${log} 1331 pass\n 0 fail\n 2907 expect() calls\nRan 1331 tests across 60 files.`, true)).toBe(
    false,
  );
  expect(reportsFailure(`${log}Tests:       3 passed, 3 total\nTime:        1.2 s\nRan all test suites.`, true)).toBe(
    false,
  );
  expect(reportsFailure(`${log} 1351 pass\n 114 fail\n 2930 expect() calls\nRan 1465 tests.`, true)).toBe(true);
  expect(reportsFailure(`${log} 1351 pass\n 0 fail\nerror: script "test" exited with code 1`, true)).toBe(true);
});

test('an answer lists the rules that match it', () => {
  const answer = new AnswerReading('Error: no such table, took 12 ms');
  expect(answer.rules()).toEqual(['opens-with-error', 'line-reports-failure', 'none', 'mask-duration']);
});
