import { expect, test } from 'vitest';
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
  ['Query completed. Please proceed with the current tasks if applicable and keep the list up to date', false],
  ['No changes detected', false],
  [`created ${'x'.repeat(100)}`, false],
])('whether %j only says done: %j', (text, expected) => {
  expect(new AnswerReading(text).acknowledges).toBe(expected);
});

test.each([
  '2026-11-30T08:51:00Z',
  'b82b4fdf58e8e90e2986bf97f46e2b9e\n',
  '{"time":"2026-11-30T08:51:00Z"}',
  'took 37 ms',
  'Next free slot: 2026-12-01 10:30',
  'bob last logged in at 2026-11-21 01:15:00',
  'HEAD is 354de72df2d5e7a00efbe34e4624bb78103d6996',
  '50 speeches, nextPageToken=36ee8d8543',
])('times and ids that make up an answer are not masked: %s', (text) => {
  expect(new AnswerReading(text).masked).toBe(text);
  expect(new AnswerReading(text).rules().filter((rule) => rule.startsWith('mask'))).toEqual([]);
});

test.each([
  '[10:20:58] no task found',
  '2026-11-30 08:51:00 INFO idle',
  'jobs as of 12:01:11: [a]',
  '{"hits":[],"took_ms":12,"requestId":"8f3a1c9d-77aa-4f0e-8f3a-1c9d77aa4f0e"}',
  'Checked 290 files in 169 ms.',
  'saved at 08:51:00',
  'pending since 08:51:00',
  'Error: timed out after 120.0s',
])('times and ids beside an answer are masked: %s', (text) => {
  expect(new AnswerReading(text).masked).toContain('~');
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
  expect(inferIsError('\u001B[31;1mParserError: \u001B[0m\n\u001B[31;1mLine |')).toBe(true);
  expect(inferIsError(`bash: x: command not found\n${'compiling\n'.repeat(200)}`)).toBe(true);
  expect(inferIsError(`${'line\n'.repeat(300)}bash: x: command not found\n${'line\n'.repeat(300)}`)).toBe(false);
  expect(inferIsError('')).toBe(false);
});

test('a good last line outweighs a failure above it', () => {
  const log = `ERROR one\n${'line\n'.repeat(5)}`;
  expect(reportsFailure(log)).toBe(true);
  expect(reportsFailure(`${log}ERROR two`)).toBe(true);
  expect(reportsFailure(`${log}finished day 1`)).toBe(false);
});

test('errors above the count of passed tests come from the tested program', () => {
  const log = 'error: Database connection failed\n      at <anonymous> (a.test.ts:317:25)\n';
  expect(reportsFailure(`${log} 1331 pass\n 0 fail\n 2907 expect() calls\nRan 1331 tests across 60 files.`)).toBe(
    false,
  );
  expect(reportsFailure(`${log}Tests:       3 passed, 3 total\nTime:        1.2 s\nRan all test suites.`)).toBe(false);
  expect(reportsFailure(`${log} 1351 pass\n 114 fail\n 2930 expect() calls\nRan 1465 tests.`)).toBe(true);
  expect(reportsFailure(`${log} 1351 pass\n 0 fail\nerror: script "test" exited with code 1`)).toBe(true);
});

test('an answer lists the rules that match it', () => {
  const answer = new AnswerReading('Error: no such table, took 12 ms');
  expect(answer.rules()).toEqual(['opens-with-error', 'line-reports-failure', 'none', 'mask-duration']);
});
