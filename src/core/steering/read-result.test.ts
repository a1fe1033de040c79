import { expect, test } from 'vitest';
import { readResult } from './read-result.ts';
import { classifyError } from '../detect/calls/error-class.ts';
import { readAnswer } from '../detect/calls/answer-reading.ts';
import { inferIsError } from '../detect/calls/answer-rules.ts';

function stored(text: string): string {
  const { plain, says } = readResult(text);
  return `${says === '' ? '' : `${says} `}text_${plain.length}_ghjkmnpqrstvwxyz`;
}

test.each([
  'Error: HTTP 401 unauthorized',
  'Error: EACCES on /etc/shadow',
  'Error: 429 too many requests',
  'Error: ETIMEDOUT after 30000 ms',
  'Error: ECONNREFUSED 127.0.0.1:80',
  'sh: foo: command not found',
  'Error: validation error in field a',
  "error: unrecognized option '--x'",
  'cat: a.txt: No such file or directory',
  'SyntaxError: Unexpected token }',
  'Error: something else',
])('the failure %j reads as one of the same cause after its text is gone', (text) => {
  expect(inferIsError(stored(text))).toBe(true);
  expect(classifyError(stored(text)).category).toBe(classifyError(text).category);
});

test.each(['connect ECONNREFUSED 10.0.0.1:5432', 'Permission was not permitted'])(
  'the substitute of %j has the same cause and reads as a failure only if the text does',
  (text) => {
    const fails = (answer: string): boolean => readAnswer(answer).refuses;
    expect(classifyError(stored(text)).category).toBe(classifyError(text).category);
    expect(fails(stored(text))).toBe(fails(text));
  },
);

test.each(['ok', 'File written.', 'Build queued', 'No changes detected', 'a listing of 12 files', 'true'])(
  'the substitute of %j has the same other readings',
  (text) => {
    const { acknowledges, isPending, isUnchanged } = readAnswer(text);
    expect(readAnswer(stored(text))).toMatchObject({ acknowledges, isPending, isUnchanged });
    expect(inferIsError(stored(text))).toBe(inferIsError(text));
  },
);

test('results that differ only in a time are equal', () => {
  expect(readResult('checked 7 files at 12:01:07, none is new').plain).toBe(
    readResult('checked 7 files at 12:09:55, none is new').plain,
  );
});
