import { expect, test } from 'vitest';
import { resultText } from './answer-reading.ts';

test('the text of a result is the text that the model read', () => {
  expect(resultText('plain')).toBe('plain');
  expect(resultText(null)).toBe('');
  expect(resultText([{ type: 'text', text: 'a' }, 'b'])).toBe('a\nb');
  expect(
    resultText([
      { type: 'text', text: 'a' },
      { type: 'image', data: '…' },
    ]),
  ).toContain('image');
  expect(resultText({ b: 1, a: true })).toBe('{"a":true,"b":1}');
});
