import { expect, test } from 'vitest';
import { costGrowth, MOST_LINEAR_GROWTH } from '../../test/support/cost-growth.ts';
import { saysFailureSoftly, tellsFailure } from './told-failure.ts';

test.each([
  'frame=0 fps=0.0\n[out#0/mp4 @ 0xc91a] Output file is empty, nothing was encoded (check -ss)',
  'INFO read\n2026-03-01 10:00:00,123 [w-1] ERROR c.a.Sink - cannot merge schema\nexiting',
  'cc -c util.c\nutil.c:14:10: fatal error: zlib.h: No such file or directory\ncompilation terminated.',
  '--- FAIL: TestSum (0.01s)\n    sum_test.go:14: got 3, want 4',
  'Tests: 2 failed, 5 passed, 7 total in 3s',
  'BUILD FAILED in 12s',
  'process exited with code 137',
  'At line:1 char:13\n    + FullyQualifiedErrorId : InvalidEndOfLine',
])('a line that speaks of failure is found: %j', (text) => {
  expect(tellsFailure(text, true)).toBe(true);
});

test.each([
  '12 passed, 0 failed',
  '<summary passed=22 failed=0 />',
  'src/error.ts written, 0 errors',
  'ERROR: 0\nFATAL: 0',
  'exit code 0',
  'read the error handling chapter',
  '2026-03-01 ERROR metrics: cannot reach statsd, continuing\nloaded 1000 rows\nfinished day 1',
])('an output that went well is left alone: %j', (text) => {
  expect(tellsFailure(text, true)).toBe(false);
});

test('of a tool that may show what others wrote only the end counts', () => {
  const log = `ERROR one\n${'line\n'.repeat(5)}`;
  expect(tellsFailure(log, true)).toBe(true);
  expect(tellsFailure(log, false)).toBe(false);
  expect(tellsFailure(`${log}ERROR two`, false)).toBe(true);
});

test.each([
  ['No replacement was performed, old_str `a` did not appear verbatim in b.py.', true],
  ['Just a moment... Verify you are human', true],
  ['Fehler F5-201: Periode nicht offen', true],
  ['エラー: メンテナンス中', true],
  ['Laufzeitfehler 1004: Blatt ist geschützt', true],
  ['MCP error -32602: Invalid arguments for tool plan', true],
  ['curl: (7) Failed to connect to localhost port 80', true],
  ["HTTPSConnectionPool(host='repo.test', port=443): Max retries exceeded", true],
  ['write EPIPE', true],
  ['ECONNREFUSED 10.0.0.5', true],
  ['Validation failed: parameter "new" is required', true],
  ['Tool "bash" is denied.', true],
  ['task_7: refused: too deep', true],
  ['An error occurred (AccessDenied) when calling the PutObject operation: Access Denied', true],
  ['  Internal Server Error', true],
  ["You don't have permission to perform this action", true],
  ['SQLSTATE[42S02]: Base table or view not found', true],
  ['page.goto: Timeout 30000ms exceeded.', true],
  ['Permission to a/b.git denied to bot.', true],
  ['Ref e5 not found in the current page snapshot', true],
  ['the error was fixed', false],
  ['rejected 5 rows of 900', false],
  ['connection established', false],
  ['exist in both: 7', false],
  ['Table orders not found', false],
  ['Validation errors: 0', false],
  ['EIOPA publishes its report', false],
  ['the review says: access is denied to nobody', false],
  ['bad luck, no requests', false],
  ['tool "bash" is allowed', false],
  ['a page about captains', false],
])('%j reads as a refusal: %s', (text, refuses) => {
  expect(saysFailureSoftly(text)).toBe(refuses);
});

test.each(['error ', 'a', 'fail\n'])('the time to read an output of many %j grows with its length', (piece) => {
  const growth = costGrowth((factor) => {
    const text = `${piece.repeat((4_000 * factor) / piece.length)}: error: x`;
    tellsFailure(text, true);
    saysFailureSoftly(text);
  });
  expect(growth).toBeLessThan(MOST_LINEAR_GROWTH);
});
