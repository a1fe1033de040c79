import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { declaresFailure, FAILURE_AT_START, inferIsError, mayFailAtStart, withholds } from './infer-error.ts';

test.each([
  'Error: file does not exist',
  '<tool_use_error>String to replace not found</tool_use_error>',
  'bash: foo: command not found',
  'ls: cannot access /nope: No such file or directory',
  'Traceback (most recent call last):\n  File "x.py", line 1',
  'ValueError: invalid literal',
  '{"error":"quota exceeded"}',
  '{"success": false, "reason": "closed"}',
  '{"http":200,"Estado":"Incorrecto","CodigoError":4104}',
  '{"error_code":"E17","data":null}',
  '{"status": 404, "message": "gone"}',
  'fatal: not a git repository',
  'npm ERR! code E404',
  'added 1 package\nnpm error code ENOENT',
  'make: *** [all] Error 2',
  'Command timed out after 120 seconds',
  `${'compiling\n'.repeat(200)}make[1]: *** [build] Error 1`,
])('a failure is read from %j', (text) => {
  expect(inferIsError(text)).toBe(true);
});

test.each([
  '',
  'ok',
  'src/a.ts:12: throw new Error("boom")',
  'src/log.ts:3:  if (error) return fail(error);',
  '42 matches for "permission denied" in 7 files',
  '2026-03-01 INFO retry after error, now fine',
  '# Error handling\nThis page tells how errors are handled.',
  '0 errors, 3 warnings',
  'errors: 0',
  '{"errors": [], "data": {"id": 1}}',
  '{"error": null, "ok": true}',
  '{"error_code": 0, "rows": 3}',
  '{"errorMessage": "", "rows": 3}',
  '{"error_code": "none"}',
  '{"error_rate": 3}',
  '{"error": "", "items": []}',
  'export class NotFoundError extends Error {}',
  'The tests cover what happens when a file is not found.',
  `${'line\n'.repeat(300)}the word error stands here`,
])('nothing failed in %j', (text) => {
  expect(inferIsError(text)).toBe(false);
});

const openings = (
  '<error>|<tool_use_error>|[error]|error|Error:|fatal|uncaught |unhandled x:|some.module.|Some|ValueError|MyException|_x|' +
  "Traceback (most recent call last)|failed|unable|could not|cannot|can't|command failed|command not found|permission denied|" +
  'access denied|unauthorized|forbidden|invalid tool|invalid json|no such file|no such tool|unknown command|syntax error|' +
  'execution timed out|time out|timeout|request timed out|HTTP/1.1 404|HTTP 500|status: 404|code=500|panic:|' +
  'segmentation fault|usage limit|rate limit'
).split('|');

test('no failure at the start is passed over before the pattern is tried', () => {
  const parts = ['', ' ', '\n', ':', '(', 'x', 'E', '.', '!', ' occurred', ' to run', 'exception', 'ERROR', 'é'];
  const piece = fc.constantFrom(...openings, ...openings.map((opening) => opening.toUpperCase()), ...parts);
  let matched = 0;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
      const text = pieces.join('');
      if (!FAILURE_AT_START.test(text)) return;
      matched += 1;
      expect([text, mayFailAtStart(text.trimStart().toLowerCase())]).toEqual([text, true]);
    }),
    { numRuns: 20_000 },
  );
  expect(matched).toBeGreaterThan(2_000);
});

test('a fault of a SOAP service is a failure, its envelope is none', () => {
  const envelope = (body: string): string =>
    `<?xml version="1.0"?>\n<soap:Envelope>\n<soap:Body>${body}</soap:Body></soap:Envelope>`;
  expect(inferIsError(envelope('<soap:Fault>\n<faultcode>soap:Client</faultcode></soap:Fault>'))).toBe(true);
  expect(inferIsError(envelope('<Balance>0.00</Balance>'))).toBe(false);
});

test.each([
  '{"ok": false, "error": {"code": "MISSING_SCOPE"}}',
  '{"success": false, "message": "the account is closed"}',
  '{"isError": true, "errors": ["no such field"]}',
  '{"error": {"code": 403, "message": "no"}}',
  '{"http": 200, "body": {"ok": false, "message": "not on sale yet"}}',
])('a failure is declared by %j', (text) => {
  expect(declaresFailure(text)).toBe(true);
});

test.each([
  ['{"reserved": false, "reason": "a second sample is required"}', true],
  ['{"status": "ok", "data": {"reserved": false, "reason": "no second sample"}}', true],
  ['{"reserved": true, "reason": "asked for"}', false],
  ['{"reserved": false}', false],
  ['{"reserved": false, "reason": "cut off', false],
])('whether %j withholds what was asked for: %j', (text, expected) => {
  expect(withholds(text)).toBe(expected);
});

test.each([
  'Error: the account is closed',
  '{"ok": false}',
  '{"ok": false, "error": ""}',
  '{"ok": true, "error": "none"}',
  '{"job": 7, "error": "the disk was full"}',
  '{"ok": false, "error": "cut off',
  '["error"]',
  '{"jobs": {"ok": false, "message": "the job of yesterday"}}',
])('no failure is declared by %j, whatever its words', (text) => {
  expect(declaresFailure(text)).toBe(false);
});
