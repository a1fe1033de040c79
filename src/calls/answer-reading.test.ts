import { expect, test } from 'vitest';
import { AnswerReading } from './answer-reading.ts';
import { inferIsError, jsonFailure, tellsFailure } from './answer-rules.ts';

test.each([
  ['', true],
  [' []\n', true],
  ['{"ok":true,"messages":{"total":0,"matches":[]}}', true],
  ['{"ok":true}', false],
  ['{"items":[],"next":"t-7"}', false],
  ['{"items":[]', false],
  ['none', false],
])('whether %j holds nothing: %j', (text, expected) => {
  expect(new AnswerReading(text).isEmpty).toBe(expected);
});

test.each([
  ['', true],
  [' Done.', true],
  ['{"updates":{"updatedRows":1}}', true],
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
  ['{"ok": false, "error": {"code": "MISSING_SCOPE"}}', 'declared'],
  ['{"error": {"code": 403, "message": "no"}}', 'declared'],
  ['{"http": 200, "body": {"ok": false, "message": "not on sale yet"}}', 'declared'],
  ['{"ok": false}', 'told'],
  ['{"job": 7, "error": "the disk was full"}', 'told'],
  ['{"error_code":"E17","data":null}', 'told'],
  ['{"status": 404, "message": "gone"}', 'told'],
  ['{"errors": [], "data": {"id": 1}}', undefined],
  ['{"error": null, "ok": true}', undefined],
  ['{"error_code": 0, "rows": 3}', undefined],
  ['{"error_rate": 3}', undefined],
  ['{"ok": false, "error": "cut off', undefined],
])('what %j says of its failure: %j', (text, expected) => {
  expect(jsonFailure(text)).toBe(expected);
});

test('a failure is read at the head and at the tail, and not between', () => {
  expect(inferIsError(`${'compiling\n'.repeat(200)}make[1]: *** [build] Error 1`)).toBe(true);
  expect(inferIsError(`make[1]: *** [build] Error 1\n${'compiling\n'.repeat(200)}`)).toBe(true);
  expect(inferIsError(`${'line\n'.repeat(300)}bash: x: command not found\n${'line\n'.repeat(300)}`)).toBe(false);
  expect(inferIsError('')).toBe(false);
});

test('of a tool that may show what others wrote only the end tells a failure, and a good end takes it back', () => {
  const log = `ERROR one\n${'line\n'.repeat(5)}`;
  expect(tellsFailure(log, true)).toBe(true);
  expect(tellsFailure(log, false)).toBe(false);
  expect(tellsFailure(`${log}ERROR two`, false)).toBe(true);
  expect(tellsFailure(`${log}finished day 1`, true)).toBe(false);
});

test('an answer names the rules by which it was read', () => {
  const answer = new AnswerReading('Error: no such table, took 12 ms');
  expect(answer.rules()).toEqual(['opens-with-error', 'line-tells-failure', 'none', 'mask-duration']);
});
