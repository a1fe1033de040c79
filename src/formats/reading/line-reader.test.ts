import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';

import { LineReader } from './line-reader.ts';

function read(text: string, options: { readonly chunkBytes: number; readonly limitBytes?: number }) {
  const reader = new LineReader(options.limitBytes ?? 1_000_000);
  const bytes = Buffer.from(text);
  const lines: { number: number; text: string | undefined; terminated: boolean }[] = [];
  const take = (line: { number: number; bytes: Buffer | undefined; terminated: boolean }) =>
    lines.push({ number: line.number, text: line.bytes?.toString(), terminated: line.terminated });
  for (let at = 0; at < bytes.length; at += options.chunkBytes) {
    for (const line of reader.push(bytes.subarray(at, at + options.chunkBytes))) take(line);
  }
  const last = reader.end();
  if (last !== undefined) take(last);
  return lines;
}

test('lines are the same however the bytes are cut into chunks', () => {
  const text = fc.array(fc.constantFrom('a', 'é', '{"x":1}', '\n', '\r\n', '\n\n', ' ')).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 7 }), (value, chunkBytes) => {
      const expected = value
        .split('\n')
        .map((line, index) => ({ number: index + 1, text: line.replace(/\r$/, '') }))
        .filter((line) => line.text.trim() !== '');
      const lines = read(value, { chunkBytes });
      expect(lines.map(({ number, text: got }) => ({ number, text: got }))).toEqual(expected);
    }),
  );
});

test.each(['\n', '\r\n', ' \t\n'])('blank lines of %j are counted without making anything for them', (blank) => {
  const chunk = Buffer.from(blank.repeat(1_000_000));
  const reader = new LineReader(1_000_000);
  const subarray = vi.spyOn(chunk, 'subarray');
  expect([...reader.push(chunk)]).toEqual([]);
  expect(subarray).not.toHaveBeenCalled();
  expect([...reader.push(Buffer.from('a\n'))]).toMatchObject([{ number: 1_000_001 }]);
});

test('a last line without a line break is marked', () => {
  expect(read('a\nb', { chunkBytes: 2 })).toEqual([
    { number: 1, text: 'a', terminated: true },
    { number: 2, text: 'b', terminated: false },
  ]);
});

test('a line over the limit comes without bytes and the next one is whole', () => {
  const lines = read(`a\n${'x'.repeat(50)}\nb\n`, { chunkBytes: 8, limitBytes: 10 });
  expect(lines.map((line) => line.text)).toEqual(['a', undefined, 'b']);
  expect(read(`${'x'.repeat(10)}\n`, { chunkBytes: 3, limitBytes: 10 })[0]?.text).toBe('xxxxxxxxxx');
});
