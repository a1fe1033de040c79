import { expect, test } from 'vitest';
import { cpuMs } from '../../../../test/support/cost-growth.ts';
import { seededRandom } from '../../../../test/support/seeded-random.ts';
import { wordsOfForm } from '../../../../test/support/words-of-form.ts';
import { ANSWER_RULES, type QuickRule } from './answer-rules.ts';
import { readAnswer } from './answer-reading.ts';
import { masksOf, VOLATILE } from './mask.ts';

/** By the id of the rule: texts that it matches, and texts that it skips. */
const EXAMPLES: Readonly<Record<string, readonly [matches: readonly string[], skips: readonly string[]]>> = {
  time: [
    [
      '2026-03-01T10:10:00.123Z',
      'on 2026/03/01',
      'log/2026-03-01T10_10_00_123Z-debug',
      '20260301T101000Z',
      '[12:01:11.250]',
    ],
    ['ratio 3:4', 'x2026-03-01x', 'v1.2.3'],
  ],
  'hexadecimal-id': [
    [
      '3f2b8c1e-0a4d-4c7b-9e21-aabbccddeeff',
      '0x7f3a2c001040',
      '9fceb02d0ae598e95dc970b74767f19372d61af8',
      '5feceb66-ffc8-6f38',
    ],
    ['sha256:3f5e06049ec1', 'facade', 'abc123def'],
  ],
  'named-id': [
    ['worker-9f3a1c', 'req-01HX3Z8K2M9P'],
    ['part-00017', 'v1beta1', 'file-7'],
  ],
  'long-number': [
    ['at 1750000000', 'id 01503266565353'],
    ['41234', '17500'],
  ],
  duration: [
    ['in 0.12s', '12 ms', '5m12s', 'up 3 hours ago'],
    ['5 days back', '12m long', 'item 3'],
  ],
  'timed-key': [
    ['"took_ms": 12', 'savedAt=1034', 'elapsed_seconds=93', 'x-runtime: 0.003, time: 4'],
    ['"total": 12', 'format=7', 'lat: 47.3', 'file.ts:12:5', '"src/a.ts": 12'],
  ],
  process: [
    ['pid 4711', 'relayd[48215]: ok', 'localhost:49152'],
    ['items[12]', 'port 80', 'process the 3 files'],
  ],
  receipt: [
    [
      '"messageId":"m-7000"',
      'reqId=18697',
      'x_request_id=9f',
      'Ray ID: 8c1f',
      '"etag": "W/1265"',
      '[ref=f3a9-1]',
      'uid=1_23',
    ],
    ['request 13', 'user id: 7', 'href="e44"', 'reference 7'],
  ],
  'temporary-path': [
    ['/tmp/abc123/out.txt', '/private/tmp/x7'],
    ['/src/tmp7', '/usr/x1'],
  ],
  'opens-with-error': [
    [
      'Error: no file',
      '<tool_use_error>x',
      '[ERROR] - x',
      'fatal: not a git repository',
      'panic: x',
      'MCP error -32602',
    ],
    ['0 errors', 'errors: 0', 'error handling chapter', '# Error handling', 'the error was fixed'],
  ],
  'opens-with-exception': [
    ['ValueError: bad', 'a.b.MyException(x', 'Traceback (most recent call last):\n'],
    ['export class NotFoundError extends Error {}', 'src/a.ts:12: throw new Error("boom")'],
  ],
  'opens-with-refusal': [
    [
      'failed to read',
      'Unable to open',
      'no such file',
      'Permission denied',
      'task_7: refused: too deep',
      'connect ECONNREFUSED 10.0.0.5',
      'curl: (7) Failed',
      'Command timed out after 120 s',
      'The last command <command>pip install x</command> timed out and has been killed.',
      'HTTP/1.1 404',
      '404 Not Found',
      'Too many requests',
    ],
    [
      'unknown',
      'invalidated',
      'rejected 5 rows',
      'connection established',
      'the time is out',
      'the last command <command>x</command> ran',
      '404',
      '200 OK',
    ],
  ],
  'line-complains': [
    [
      'bash: foo: command not found',
      'x\nls: cannot access /nope: No such file or directory',
      'added\nnpm error code ENOENT',
      'a.ts:3:x\nrg: regex parse error:',
      '    + CategoryInfo          : ParserError: (:) [], ParentContainsErrorRecordException',
    ],
    [
      'grep: ./a.png: binary file matches',
      '42 matches for "permission denied" in 7 files',
      'The tests cover what happens when a file is not found.',
    ],
  ],
  'refuses-softly': [
    ['Wrong flag!', 'the table does not exist'],
    ['exist in both: 7', 'a wrong flag'],
  ],
  'line-reports-failure': [
    [
      'cc -c util.c\nutil.c:14:10: fatal error: zlib.h: No such file',
      'INFO read\n2026-03-01 10:00:00,123 [w-1] ERROR c.a.Sink - cannot merge',
      '--- FAIL: TestSum (0.01s)',
      'Tests: 2 failed, 5 passed',
      '✖ adds (1.6ms)\nℹ tests 2\nℹ pass 1\nℹ fail 1\nℹ todo 0',
      'test result: FAILED. 3 passed; 1 failed; 0 ignored',
      ' 1351 pass\n 114 fail',
      'BUILD FAILED in 12s',
      'process exited with code 137',
    ],
    [
      '12 passed, 0 failed',
      'ℹ tests 2\nℹ pass 2\nℹ fail 0',
      'test result: ok. 121 passed; 0 failed; 0 ignored; finished in 4.29s',
      '<summary passed=22 failed=0 />',
      'src/error.ts written, 0 errors',
      'ERROR: 0\nFATAL: 0',
      'exit code 0',
      'read the error handling chapter',
    ],
  ],
  'counts-passed': [
    ['Tests:       3 passed, 3 total', ' 1331 pass', '  5 passing (10ms)', '12 tests passed'],
    ['# of passes', '3 passengers', 'passed 3 files'],
  ],
  'ends-well': [
    ['all done', '5 passed'],
    ['5 tests', 'undone'],
  ],
  'no-change': [
    ['No changes detected', 'nothing to commit', 'already exists'],
    ['[main 1a2b3c] Fix', 'already 3 there'],
  ],
  none: [
    ['0 results', 'none', '{"items":[]}', 'not there'],
    ['10', 'notes', '0.5', '0%'],
  ],
  pending: [
    [
      'Status: in_progress',
      'still running',
      'PROVISIONING',
      '{"state":"pending_approval"}',
      '{"status":"transcoding"}',
      '{"percent":37}',
    ],
    ['completed', '{"percent":100}', 'a discount of 20 %', '{"queued":0,"pending":3}', 'const value = await load()'],
  ],
  done: [
    ['ok', 'File written successfully', 'true', '3 rows deleted', 'null'],
    ['42', 'src/a.ts', 'token', 'unfinished'],
  ],
};

const rules: readonly QuickRule[] = [...VOLATILE, ...ANSWER_RULES];

test('each reading rule has a unique id and examples', () => {
  expect(rules.map(({ id }) => id).sort()).toEqual(Object.keys(EXAMPLES).sort());
});

test.each(rules.map((rule) => [rule.id, rule] as const))('the rule %s matches only its examples', (id, rule) => {
  const [matches, skips] = EXAMPLES[id] ?? [[], []];
  const holds = (text: string): boolean =>
    VOLATILE.includes(rule) ? masksOf(text).includes(id) : rule.form.test(text);
  expect(matches.length * skips.length).toBeGreaterThan(0);
  expect(matches.filter((text) => !holds(text))).toEqual([]);
  expect(skips.filter((text) => holds(text))).toEqual([]);
});

test.each(ANSWER_RULES.flatMap(({ form, id, mentions }) => (mentions === undefined ? [] : [{ form, id, mentions }])))(
  'every text that the rule $id matches passes its faster test',
  ({ form, mentions }) => {
    const words = wordsOfForm(form);
    const marks = [' ', '\n', ': ', '[', ']', '-', '1', '12 ', '0', '=', '.'];
    const random = seededRandom(11);
    const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? '';
    const texts = Array.from({ length: 20_000 }, () =>
      Array.from({ length: 8 }, () => pick(random() < 0.4 ? words : marks)).join(''),
    );
    const matched = texts.filter((text) => form.test(text));
    expect(matched.length).toBeGreaterThan(100);
    expect(matched.filter((text) => !mentions.test(text))).toEqual([]);
  },
);

test.each(['error ', 'a', 'fail\n', '1', 'a1', 'a1-', '[', '12:', '/tmp/', '{"a":'])(
  'an answer of many %j is read in bounded time',
  (piece) => {
    const text = piece.repeat(20_000 / piece.length);
    const cost = cpuMs(() => {
      const { masked, refuses, reportsFailureAnywhere, failure, isPending, acknowledges } = readAnswer(text);
      expect([masked, refuses, reportsFailureAnywhere, failure, isPending, acknowledges]).toHaveLength(6);
    });
    expect(cost).toBeLessThan(500);
  },
);
