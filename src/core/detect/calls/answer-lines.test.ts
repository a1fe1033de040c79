import { expect, test } from 'vitest';
import { answerLines } from './answer-gist.ts';

test('answers that differ in digits and blanks only have one shape', () => {
  expect(answerLines('line 1270: no such file').shapeKey).toBe(answerLines('line 99:  no such file').shapeKey);
  expect(answerLines('line 1270: no such file').shapeKey).not.toBe(answerLines('line 1270: no such folder').shapeKey);
});

test('lines without letters are ignored', () => {
  expect(answerLines('12\n\n34').lines).toEqual([]);
});

test('of a long answer the lines of both ends are kept', () => {
  const long = Array.from({ length: 40 }, (_, at) => 'x'.repeat(at + 1)).join('\n');
  const { lines } = answerLines(long);
  expect(lines).toHaveLength(16);
  expect(lines.at(0)).toBe(answerLines('x').lines[0]);
  expect(lines.at(-1)).toBe(answerLines('x'.repeat(40)).lines[0]);
});
